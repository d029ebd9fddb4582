"""What a careful colleague would notice about a mechanism: one file per thing to look at."""
