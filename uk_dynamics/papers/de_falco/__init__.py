"""De Falco et al.: five pseudoinverses on an over-constrained five-bar."""
