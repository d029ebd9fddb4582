"""Limits of motors and the distribution of efforts within them."""
