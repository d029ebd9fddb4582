"""From URDF text to a checked description of links and joints."""
