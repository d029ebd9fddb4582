"""USD scenes with UsdPhysics."""
