"""IFToMM library of computational benchmark problems: five mechanisms with rigid bodies."""
