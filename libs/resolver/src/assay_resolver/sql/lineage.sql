-- name: explain_item
-- The accepted values of an item and of the listings mapped to it, each with the decision behind its revision.
WITH owners AS (
    SELECT 'item' AS owner_type, i.item_id AS owner_id FROM item i
    WHERE i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s AND i.item_id = %(item_id)s
    UNION ALL
    SELECT 'listing', m.listing_id FROM mapping m
    WHERE m.tenant_id = %(tenant_id)s AND m.catalog_id = %(catalog_id)s AND m.item_id = %(item_id)s)
SELECT a.owner_type, a.owner_id, a.name, a.line, a.value, a.by, a.revision, a.attribute_id,
       c.event_id, c.history_epoch, c.position, d.decision_id, d.action, d.actor, d.rationale, d.decided_at
FROM owners o
JOIN attribute a ON a.tenant_id = %(tenant_id)s AND a.catalog_id = %(catalog_id)s
    AND a.owner_type = o.owner_type AND a.owner_id = o.owner_id
JOIN change c ON c.tenant_id = a.tenant_id AND c.catalog_id = a.catalog_id AND c.aggregate = 'attribute'
    AND c.id = a.attribute_id AND c.revision = a.revision
JOIN decision d ON (d.tenant_id, d.catalog_id, d.decision_id) = (c.tenant_id, c.catalog_id, c.decision_id)
WHERE a.value IS NOT NULL AND (%(name)s::text IS NULL OR a.name = %(name)s)
ORDER BY a.owner_type, a.owner_id, a.name, a.line;

-- name: support_of_attributes
-- The facts behind some attributes' revisions, down to the receipt.
SELECT s.id, f.reading_id, f.n, f.name, f.raw, f.value, f.place_syntax, f.place, f.adapter, r.profile,
       f.sha256, e.bytes, e.media_type, f.capture_id, cap.source_id, cap.url, cap.key, cap.observed_at,
       t.receipt_id, t.received_at
FROM attribute a
JOIN support s ON s.tenant_id = a.tenant_id AND s.catalog_id = a.catalog_id AND s.aggregate = 'attribute'
    AND s.id = a.attribute_id AND s.revision = a.revision
JOIN fact f ON (f.tenant_id, f.catalog_id, f.reading_id, f.n) = (s.tenant_id, s.catalog_id, s.reading_id, s.n)
JOIN reading r ON (r.tenant_id, r.catalog_id, r.reading_id) = (f.tenant_id, f.catalog_id, f.reading_id)
JOIN evidence e ON (e.tenant_id, e.sha256) = (f.tenant_id, f.sha256)
JOIN capture cap ON (cap.tenant_id, cap.capture_id) = (f.tenant_id, f.capture_id)
JOIN receipt t ON (t.tenant_id, t.capture_id) = (f.tenant_id, f.capture_id)
WHERE a.tenant_id = %(tenant_id)s AND a.catalog_id = %(catalog_id)s AND a.attribute_id = ANY(%(attributes)s)
ORDER BY s.id, s.reading_id, s.n;
