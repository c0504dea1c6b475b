"""What every Assay process needs in order to run; no rule of the catalog lives here."""
