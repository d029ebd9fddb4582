"""Commands that learn numbers from recordings: identify, calibrate."""
