"""Machines given as graphs of links and joints."""
