-- name: insert_part
-- Something that the decision asserted, and what stood in its place.
INSERT INTO decision_part (tenant_id, catalog_id, decision_id, n, kind, id, before, after)
VALUES (%(tenant_id)s, %(catalog_id)s, %(decision_id)s, %(n)s, %(kind)s, %(id)s, %(before)s, %(after)s);

-- name: parts_of_decision
-- What a decision asserted.
SELECT kind, id, before, after FROM decision_part
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND decision_id = %(decision_id)s
ORDER BY n;

-- name: later_parts
-- Which later decisions asserted something about the same things, newest first.
SELECT p.kind, p.id, p.decision_id FROM decision_part p
JOIN unnest(%(kinds)s::text[], %(subjects)s::text[]) AS w (kind, id) ON (p.kind, p.id) = (w.kind, w.id)
WHERE p.tenant_id = %(tenant_id)s AND p.catalog_id = %(catalog_id)s AND p.decision_id > %(decision_id)s COLLATE "C"
ORDER BY p.decision_id COLLATE "C" DESC;
