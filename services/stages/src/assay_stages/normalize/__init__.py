"""Stage ④ normalize: from raw statements to one reading, whose facts carry catalog values."""
