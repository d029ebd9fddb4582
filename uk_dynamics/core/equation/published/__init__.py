"""Further forms of the equation, as the papers publish them."""
