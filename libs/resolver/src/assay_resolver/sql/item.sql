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

-- name: find_mapping
-- What a listing maps to, and at which revision; a cleared mapping has no item.
SELECT item_id, revision FROM mapping
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = %(listing_id)s;

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
-- The values that people gave and nobody withdrew.
SELECT item_id, name, reading_id, n FROM pin
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = ANY(%(items)s) AND withdrawn_by IS NULL;

-- name: withdraw_pin
-- A newer pin of the same attribute takes the older one's place.
UPDATE pin SET withdrawn_by = %(decision_id)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = %(item_id)s AND name = %(name)s
  AND withdrawn_by IS NULL;

-- name: insert_pin
-- A person's value for one attribute of one item.
INSERT INTO pin (tenant_id, catalog_id, item_id, name, decision_id, reading_id, n)
VALUES (%(tenant_id)s, %(catalog_id)s, %(item_id)s, %(name)s, %(decision_id)s, %(reading_id)s, %(n)s);

-- name: insert_verdict
-- A person said that these two differ.
INSERT INTO verdict (tenant_id, catalog_id, "left", "right", decision_id)
VALUES (%(tenant_id)s, %(catalog_id)s, LEAST(%(one)s COLLATE "C", %(other)s COLLATE "C"),
        GREATEST(%(one)s COLLATE "C", %(other)s COLLATE "C"), %(decision_id)s);

-- name: items_differing_from
-- The items that a listing was said to differ from.
SELECT CASE WHEN "left" = %(listing_id)s THEN "right" ELSE "left" END FROM verdict
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND withdrawn_by IS NULL
  AND ("left" = %(listing_id)s OR "right" = %(listing_id)s);

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
