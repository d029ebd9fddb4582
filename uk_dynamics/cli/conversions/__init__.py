"""Commands that convert from and to other formats."""
