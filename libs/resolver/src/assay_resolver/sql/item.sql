-- name: insert_item
-- A new root.
INSERT INTO item (tenant_id, catalog_id, item_id, state, revision)
VALUES (%(tenant_id)s, %(catalog_id)s, %(item_id)s, 'active', 1);

-- name: find_items
-- State and revision of some items.
SELECT item_id, state, revision FROM item
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = ANY(%(items)s);

-- name: upsert_mapping
-- The listing is this item; its revision is the change just written.
INSERT INTO mapping (tenant_id, catalog_id, listing_id, home_item_id, item_id, via, score, revision)
VALUES (%(tenant_id)s, %(catalog_id)s, %(listing_id)s, %(home_item_id)s, %(item_id)s, %(via)s, %(score)s, %(revision)s)
ON CONFLICT (tenant_id, catalog_id, listing_id) DO UPDATE
SET home_item_id = EXCLUDED.home_item_id, item_id = EXCLUDED.item_id, via = EXCLUDED.via, score = EXCLUDED.score,
    revision = EXCLUDED.revision;

-- name: set_item
-- The item's state; its revision is the change just written.
UPDATE item SET state = %(state)s, merged_into = %(merged_into)s, revision = %(revision)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = %(item_id)s;

-- name: find_item_states
-- Items with what their last change said, and which decision made it.
SELECT i.item_id, i.state, i.merged_into, i.revision, c.data, c.decision_id FROM item i
JOIN change c ON (c.tenant_id, c.catalog_id, c.aggregate, c.id, c.revision)
    = (i.tenant_id, i.catalog_id, i.aggregate, i.item_id, i.revision)
WHERE i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s AND i.item_id = ANY(%(items)s);

-- name: roots_of_items
-- Where items lead in the end.
WITH RECURSIVE path AS (
    SELECT item_id AS start, item_id, merged_into FROM item
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = ANY(%(items)s)
    UNION ALL
    SELECT p.start, i.item_id, i.merged_into FROM path p
    JOIN item i ON i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s AND i.item_id = p.merged_into)
SELECT start, item_id FROM path WHERE merged_into IS NULL;

-- name: mappings_of_items
-- What is mapped to some items, in a steady order.
SELECT listing_id, home_item_id, item_id, revision FROM mapping
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = ANY(%(items)s)
ORDER BY listing_id;

-- name: mappings_told
-- What some revisions of mappings said, and the facts that they rested on.
SELECT c.id, c.data, s.reading_id, s.n
FROM unnest(%(listings)s::text[], %(revisions)s::bigint[]) AS w (id, revision)
JOIN change c ON c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.aggregate = 'mapping'
    AND c.id = w.id AND c.revision = w.revision
JOIN support s ON s.tenant_id = c.tenant_id AND s.catalog_id = c.catalog_id AND s.aggregate = c.aggregate
    AND s.id = c.id AND s.revision = c.revision
ORDER BY s.id, s.reading_id, s.n;

-- name: items_with_more_listings
-- Those of some items that have more listings than this.
SELECT item_id FROM mapping
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = ANY(%(items)s)
GROUP BY item_id HAVING count(*) > %(most)s;

-- name: find_attributes
-- Accepted values of some owners, tombstones included for their revisions.
SELECT owner_type, owner_id, name, line, value, by, revision FROM attribute
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND owner_id = ANY(%(owners)s);

-- name: upsert_attribute
-- The accepted value, or its tombstone; its revision is the change just written.
INSERT INTO attribute (tenant_id, catalog_id, owner_type, owner_id, name, line, attribute_id, value, by, revision)
VALUES (%(tenant_id)s, %(catalog_id)s, %(owner_type)s, %(owner_id)s, %(name)s, %(line)s, %(attribute_id)s, %(value)s,
        %(by)s, %(revision)s)
ON CONFLICT (tenant_id, catalog_id, owner_type, owner_id, name, line) DO UPDATE
SET value = EXCLUDED.value, by = EXCLUDED.by, revision = EXCLUDED.revision;

-- name: standing_pins
-- The values that people gave and nobody withdrew, of items and of those below them, the latest last.
WITH RECURSIVE tree AS (
    SELECT item_id AS top, item_id FROM item
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = ANY(%(items)s)
    UNION ALL
    SELECT t.top, i.item_id FROM tree t
    JOIN item i ON i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s AND i.merged_into = t.item_id)
SELECT t.top, t.item_id, p.name, p.reading_id, p.n FROM pin p
JOIN tree t ON t.item_id = p.item_id
WHERE p.tenant_id = %(tenant_id)s AND p.catalog_id = %(catalog_id)s AND p.withdrawn_by IS NULL
  AND p.item_id = ANY(ARRAY(SELECT item_id FROM tree))
ORDER BY p.decision_id COLLATE "C", p.item_id COLLATE "C";

-- name: find_pins
-- The standing pins of some (item, name) themselves.
SELECT p.item_id, p.name, p.reading_id, p.n, p.decision_id FROM pin p
JOIN unnest(%(items)s::text[], %(names)s::text[]) AS w (item_id, name) ON (p.item_id, p.name) = (w.item_id, w.name)
WHERE p.tenant_id = %(tenant_id)s AND p.catalog_id = %(catalog_id)s AND p.withdrawn_by IS NULL;

-- name: withdraw_pin
-- A newer pin of the same attribute takes the older one's place.
UPDATE pin SET withdrawn_by = %(decision_id)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = %(item_id)s AND name = %(name)s
  AND withdrawn_by IS NULL;

-- name: insert_pin
-- A person's value for one attribute of one item.
INSERT INTO pin (tenant_id, catalog_id, item_id, name, decision_id, reading_id, n)
VALUES (%(tenant_id)s, %(catalog_id)s, %(item_id)s, %(name)s, %(decision_id)s, %(reading_id)s, %(n)s);

-- name: roots_of_keys
-- Where some exact keys lead; a null item is shared by several.
SELECT kind, value, item_id FROM item_key
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s
  AND (kind, value) IN (SELECT * FROM unnest(%(kinds)s::text[], %(values)s::text[]));

-- name: derive_item_keys
-- What the mapped listings' exact keys lead to now: the one root, or null for several.
INSERT INTO item_key (tenant_id, catalog_id, kind, value, item_id)
SELECT %(tenant_id)s, %(catalog_id)s, k.kind, k.value,
       CASE WHEN count(DISTINCT m.item_id) = 1 THEN min(m.item_id) END
FROM listing_key k
JOIN mapping m ON (m.tenant_id, m.catalog_id, m.listing_id) = (k.tenant_id, k.catalog_id, k.listing_id)
WHERE k.tenant_id = %(tenant_id)s AND k.catalog_id = %(catalog_id)s AND m.item_id IS NOT NULL
  AND (k.kind, k.value) IN (SELECT * FROM unnest(%(kinds)s::text[], %(values)s::text[]))
GROUP BY k.kind, k.value
ON CONFLICT (tenant_id, catalog_id, kind, value) DO UPDATE SET item_id = EXCLUDED.item_id;

-- name: drop_item_keys
-- A key that no mapped listing states leads nowhere.
DELETE FROM item_key i
WHERE i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s
  AND (i.kind, i.value) IN (SELECT * FROM unnest(%(kinds)s::text[], %(values)s::text[]))
  AND NOT EXISTS (
      SELECT FROM listing_key k
      JOIN mapping m ON (m.tenant_id, m.catalog_id, m.listing_id) = (k.tenant_id, k.catalog_id, k.listing_id)
      WHERE (k.tenant_id, k.catalog_id, k.kind, k.value) = (i.tenant_id, i.catalog_id, i.kind, i.value)
        AND m.item_id IS NOT NULL);
