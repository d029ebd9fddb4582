"""Array code evaluated on symbols."""
