-- name: lock_latest
-- The newest serial of a source's key, held until the decision commits.
SELECT listing_id FROM listing
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND source_id = %(source_id)s AND key = %(key)s
ORDER BY serial DESC LIMIT 1
FOR UPDATE;

-- name: lock_listing
-- One listing by its id, held until the decision commits.
SELECT listing_id FROM listing
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = %(listing_id)s
FOR UPDATE;

-- name: lock_listings
-- Some listings, held until the decision commits, in one order everywhere.
SELECT listing_id FROM listing
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = ANY(%(listings)s)
ORDER BY listing_id COLLATE "C"
FOR UPDATE;

-- name: insert_listing
-- A source's thing, seen for the first time or under a new serial.
INSERT INTO listing (tenant_id, catalog_id, listing_id, source_id, key, serial, url, reading_id)
VALUES (%(tenant_id)s, %(catalog_id)s, %(listing_id)s, %(source_id)s, %(key)s, %(serial)s, %(url)s, %(reading_id)s);

-- name: speak_by
-- The listing now speaks by this reading.
UPDATE listing SET reading_id = %(reading_id)s, url = %(url)s, state = %(state)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = %(listing_id)s;

-- name: set_state
-- Gone, replaced or rejected.
UPDATE listing SET state = %(state)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = %(listing_id)s;

-- name: remember_look
-- The source looked again, and the listing does not speak by what it saw.
UPDATE listing SET looked_observed_at = %(observed_at)s, looked_received_at = %(received_at)s,
    looked_receipt_id = %(receipt_id)s, looked_attempt_group = %(attempt_group)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = %(listing_id)s;

-- name: find_listings
-- Some listings with what they map to, how far their source is trusted, which of their keys a person called wrong, and
-- the order of the latest look by which they do not speak.
SELECT l.listing_id, l.source_id, l.key, l.serial, l.url, l.state, s.trust, l.reading_id, m.item_id, m.home_item_id,
       COALESCE(m.revision, 0),
       ARRAY(SELECT v."left" FROM verdict v
             WHERE v.tenant_id = l.tenant_id AND v.catalog_id = l.catalog_id AND v."right" = l.listing_id
               AND v.withdrawn_by IS NULL AND v."left" ~ '^(gtin|brand_mpn):'),
       l.looked_observed_at, l.looked_received_at, l.looked_receipt_id, l.looked_attempt_group
FROM listing l
JOIN source s ON (s.tenant_id, s.source_id) = (l.tenant_id, l.source_id)
LEFT JOIN mapping m ON (m.tenant_id, m.catalog_id, m.listing_id) = (l.tenant_id, l.catalog_id, l.listing_id)
WHERE l.tenant_id = %(tenant_id)s AND l.catalog_id = %(catalog_id)s AND l.listing_id = ANY(%(listings)s);

-- name: listings_of_items
-- The listings mapped to some items.
SELECT listing_id FROM mapping
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = ANY(%(items)s);

-- name: keys_of_listing
-- By which keys a listing is found.
SELECT kind, value FROM listing_key
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = %(listing_id)s;

-- name: superseded_listings
-- Those of some listings in whose place another one is live: the same source's key can be had once.
SELECT l.listing_id FROM listing l
JOIN listing o ON o.tenant_id = l.tenant_id AND o.catalog_id = l.catalog_id AND o.source_id = l.source_id
    AND o.key = l.key AND o.listing_id <> l.listing_id AND o.state IN ('open', 'gone')
WHERE l.tenant_id = %(tenant_id)s AND l.catalog_id = %(catalog_id)s AND l.listing_id = ANY(%(listings)s);

-- name: exact_keys_of_listings
-- The keys that decide, of some listings.
SELECT DISTINCT kind, value FROM listing_key
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = ANY(%(listings)s)
  AND kind = ANY(%(exact)s);

-- name: drop_keys
-- The keys of the reading by which the listing spoke before.
DELETE FROM listing_key
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = %(listing_id)s;

-- name: insert_keys
-- The keys of the reading by which it speaks now.
INSERT INTO listing_key (tenant_id, catalog_id, kind, value, listing_id)
SELECT %(tenant_id)s, %(catalog_id)s, kind, value, %(listing_id)s
FROM unnest(%(kinds)s::text[], %(values)s::text[]) AS k (kind, value);

-- name: keys_of_items
-- The exact keys that an item's listings state.
SELECT m.item_id, k.kind, k.value FROM mapping m
JOIN listing_key k ON (k.tenant_id, k.catalog_id, k.listing_id) = (m.tenant_id, m.catalog_id, m.listing_id)
WHERE m.tenant_id = %(tenant_id)s AND m.catalog_id = %(catalog_id)s AND m.item_id = ANY(%(items)s)
  AND k.kind = ANY(%(exact)s);

-- name: items_in_blocks
-- Items that share a key with a reading, those with most shared keys first; a key of more than `most` listings tells
-- nothing. LIMIT and OFFSET hold the planner to one look-up a key and a listing, however little it knows of the tables.
WITH telling AS MATERIALIZED (
    SELECT w.kind, w.value, k.listings
    FROM unnest(%(kinds)s::text[], %(values)s::text[]) AS w (kind, value)
    CROSS JOIN LATERAL (
        SELECT array_agg(one.listing_id) AS listings FROM (
            SELECT listing_id FROM listing_key
            WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND kind = w.kind AND value = w.value
            LIMIT %(most)s + 1) AS one) AS k
    WHERE cardinality(k.listings) <= %(most)s)
SELECT m.item_id FROM telling t
CROSS JOIN LATERAL unnest(t.listings) AS l (listing_id)
CROSS JOIN LATERAL (
    SELECT item_id FROM mapping
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = l.listing_id
      AND item_id IS NOT NULL
    OFFSET 0) AS m
GROUP BY m.item_id ORDER BY count(*) DESC, m.item_id LIMIT %(limit)s;

-- name: unmapped_with_keys
-- Open listings that no item has, though one now has their exact key.
SELECT DISTINCT l.listing_id FROM listing_key k
JOIN listing l ON (l.tenant_id, l.catalog_id, l.listing_id) = (k.tenant_id, k.catalog_id, k.listing_id)
LEFT JOIN mapping m ON (m.tenant_id, m.catalog_id, m.listing_id) = (k.tenant_id, k.catalog_id, k.listing_id)
WHERE k.tenant_id = %(tenant_id)s AND k.catalog_id = %(catalog_id)s AND l.state = 'open' AND m.item_id IS NULL
  AND (k.kind, k.value) IN (SELECT * FROM unnest(%(kinds)s::text[], %(values)s::text[]))
ORDER BY l.listing_id LIMIT %(limit)s;
