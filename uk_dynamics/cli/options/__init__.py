"""Arguments that commands share."""
