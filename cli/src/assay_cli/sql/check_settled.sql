-- name: list_catalogs
-- Where there is something to settle.
SELECT tenant_id, catalog_id FROM catalog ORDER BY 1, 2;

-- name: list_items
-- Every root of a catalog: the values of an item that was merged rest.
SELECT item_id FROM item
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND merged_into IS NULL ORDER BY 1;

-- name: list_listings
-- Every listing of a catalog.
SELECT listing_id FROM listing WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s ORDER BY 1;

-- name: listings_of_items
-- The listings of some items, with the readings by which they speak.
SELECT l.listing_id, l.source_id, l.key, l.serial, l.url, l.state, s.trust, m.item_id,
       ARRAY(SELECT v."left" FROM verdict v
             WHERE v.tenant_id = l.tenant_id AND v.catalog_id = l.catalog_id AND v."right" = l.listing_id
               AND v.withdrawn_by IS NULL AND v."left" ~ '^(gtin|brand_mpn):'),
       r.reading_id, r.capture_id, c.source_id, r.key, r.group_key, c.url, r.digest, c.observed_at, c.received_at,
       COALESCE(t.receipt_id, ''), r.attempt_group
FROM mapping m
JOIN listing l ON (l.tenant_id, l.catalog_id, l.listing_id) = (m.tenant_id, m.catalog_id, m.listing_id)
JOIN source s ON (s.tenant_id, s.source_id) = (l.tenant_id, l.source_id)
JOIN reading r ON (r.tenant_id, r.catalog_id, r.reading_id) = (l.tenant_id, l.catalog_id, l.reading_id)
JOIN capture c ON (c.tenant_id, c.capture_id) = (r.tenant_id, r.capture_id)
LEFT JOIN receipt t ON (t.tenant_id, t.capture_id) = (r.tenant_id, r.capture_id)
WHERE m.tenant_id = %(tenant_id)s AND m.catalog_id = %(catalog_id)s AND m.item_id = ANY(%(owners)s);

-- name: find_listings
-- Some listings, mapped or not, with the readings by which they speak.
SELECT l.listing_id, l.source_id, l.key, l.serial, l.url, l.state, s.trust, m.item_id,
       ARRAY(SELECT v."left" FROM verdict v
             WHERE v.tenant_id = l.tenant_id AND v.catalog_id = l.catalog_id AND v."right" = l.listing_id
               AND v.withdrawn_by IS NULL AND v."left" ~ '^(gtin|brand_mpn):'),
       r.reading_id, r.capture_id, c.source_id, r.key, r.group_key, c.url, r.digest, c.observed_at, c.received_at,
       COALESCE(t.receipt_id, ''), r.attempt_group
FROM listing l
JOIN source s ON (s.tenant_id, s.source_id) = (l.tenant_id, l.source_id)
JOIN reading r ON (r.tenant_id, r.catalog_id, r.reading_id) = (l.tenant_id, l.catalog_id, l.reading_id)
JOIN capture c ON (c.tenant_id, c.capture_id) = (r.tenant_id, r.capture_id)
LEFT JOIN receipt t ON (t.tenant_id, t.capture_id) = (r.tenant_id, r.capture_id)
LEFT JOIN mapping m ON (m.tenant_id, m.catalog_id, m.listing_id) = (l.tenant_id, l.catalog_id, l.listing_id)
WHERE l.tenant_id = %(tenant_id)s AND l.catalog_id = %(catalog_id)s AND l.listing_id = ANY(%(owners)s);

-- name: facts_of_readings
-- What some readings state, in the order in which it speaks.
SELECT reading_id, n, name, line, value FROM fact
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND reading_id = ANY(%(readings)s)
  AND value IS NOT NULL
ORDER BY reading_id, n;

-- name: pins_of_items
-- What people gave some items and those merged into them, and nobody withdrew: of one name the last row counts.
WITH RECURSIVE tree AS (
    SELECT item_id AS top, item_id FROM item
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = ANY(%(owners)s)
    UNION ALL
    SELECT t.top, i.item_id FROM tree t
    JOIN item i ON i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s AND i.merged_into = t.item_id)
SELECT t.top, p.name, f.reading_id, f.n, f.name, f.line, f.value
FROM tree t
JOIN pin p ON p.tenant_id = %(tenant_id)s AND p.catalog_id = %(catalog_id)s AND p.item_id = t.item_id
JOIN fact f ON (f.tenant_id, f.catalog_id, f.reading_id, f.n) = (p.tenant_id, p.catalog_id, p.reading_id, p.n)
WHERE p.withdrawn_by IS NULL
ORDER BY t.item_id = t.top, p.decision_id COLLATE "C";

-- name: attributes_of
-- What is accepted of some owners.
SELECT owner_id, name, line, value, by FROM attribute
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND owner_id = ANY(%(owners)s) AND value IS NOT NULL;

-- name: keys_of_listings
-- By what some listings are found.
SELECT listing_id, kind, value FROM listing_key
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND listing_id = ANY(%(owners)s);
