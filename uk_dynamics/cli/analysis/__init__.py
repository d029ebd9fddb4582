"""Commands that compute something of a mechanism without moving it."""
