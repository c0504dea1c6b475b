-- name: read_facts
-- All accepted facts as their latest changes say them, tombstones included.
SELECT h.aggregate, h.id, h.revision, h.type, h.decision_id, h.event_id, h.history_epoch, h.position, d.decided_at,
       h.data
FROM (
    SELECT 'item' AS aggregate, item_id AS id, revision FROM item
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s
    UNION ALL
    SELECT 'mapping', listing_id, revision FROM mapping
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s
    UNION ALL
    SELECT 'attribute', attribute_id, revision FROM attribute
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s
) AS standing
JOIN change h ON h.tenant_id = %(tenant_id)s AND h.catalog_id = %(catalog_id)s
    AND h.aggregate = standing.aggregate AND h.id = standing.id AND h.revision = standing.revision
JOIN decision d ON d.tenant_id = h.tenant_id AND d.catalog_id = h.catalog_id AND d.decision_id = h.decision_id;
