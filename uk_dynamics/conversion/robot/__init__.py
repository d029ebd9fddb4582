"""What every import makes: a URDF, a mechanism file, remarks."""
