"""Stage ③ extract: from one artifact's bytes to raw statements, each with the place it was read from."""
