"""Forces that a mechanism file declares: springs, dampers, constant efforts, joint friction."""
