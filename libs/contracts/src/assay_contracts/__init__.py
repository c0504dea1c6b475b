"""Every message of Assay, and the one decoder that reads them."""
