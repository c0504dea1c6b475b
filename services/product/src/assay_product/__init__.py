"""⑦ and ⑧: builds the catalog that can be questioned from events alone, and serves it over HTTP."""
