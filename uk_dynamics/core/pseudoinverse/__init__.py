"""Moore–Penrose inverses by the five algorithms of de Falco, Pennestrì and Vita (2008)."""
