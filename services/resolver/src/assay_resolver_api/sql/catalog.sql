-- name: find_catalog
-- Whether the tenant has the catalog.
SELECT 1 FROM catalog WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s;
