"""The servo law: distribution, lemmas of the servo paper, actuation, completion of a state."""
