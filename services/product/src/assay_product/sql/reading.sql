-- name: find_key
-- The one key of this id, whoever's it is; asked before the tenant is known.
SELECT tenant_id, mac, scopes, revoked_at FROM api_key_by_id(%(key_id)s);

-- name: begin_reading
-- One snapshot for a whole answer, so that it shows one generation at one moment.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- name: list_catalogs
-- The tenant's catalogs with their live generations, how far they have come, and how many items they show.
SELECT g.catalog_id, g.history_epoch, g.generation, c.processed,
       (SELECT count(*) FROM item i WHERE i.tenant_id = g.tenant_id AND i.catalog_id = g.catalog_id
        AND i.generation = g.generation AND i.state = 'active')
FROM generation g JOIN cursor c USING (tenant_id, catalog_id, generation)
WHERE g.state = 'live'
ORDER BY g.catalog_id COLLATE "C";

-- name: find_live
-- The live generation of one catalog.
SELECT g.catalog_id, g.history_epoch, g.generation, c.processed
FROM generation g JOIN cursor c USING (tenant_id, catalog_id, generation)
WHERE g.state = 'live' AND g.catalog_id = %(catalog_id)s;

-- name: read_status
-- How far the live generation has come, and what it waits for.
SELECT c.progress, c.highest, c.processed, c.halted, c.moved_at, count(p.position) AS parked,
       min(p.parked_at) AS parked_since
FROM cursor c LEFT JOIN parked p USING (tenant_id, catalog_id, generation)
WHERE c.catalog_id = %(catalog_id)s AND c.generation = %(generation)s
GROUP BY c.progress, c.highest, c.processed, c.halted, c.moved_at;

-- name: list_waiting
-- The first parked positions and what they wait for.
SELECT position, reason, waits_for_type, waits_for_id, waits_for_revision
FROM parked
WHERE catalog_id = %(catalog_id)s AND generation = %(generation)s
ORDER BY position
LIMIT %(limit)s;

-- name: list_items
-- A page of the active items.
SELECT item_id, state, merged_into, because, revision, decision_id, occurred_at
FROM item
WHERE catalog_id = %(catalog_id)s AND generation = %(generation)s AND state = 'active' AND item_id > %(after)s
ORDER BY item_id
LIMIT %(limit)s;

-- name: search_items
-- A page of the active items of which each word is found in a value of the item's own or of one of its listings.
WITH hit AS (
    SELECT w.word, o.owner_type, o.owner_id
    FROM unnest(%(word)b::integer[], %(pattern)b::text[]) AS w (word, pattern)
    CROSS JOIN LATERAL attribute_owners_matching(%(catalog_id)s, %(generation)s, ARRAY[w.pattern]) o
), found AS (
    SELECT word, owner_id AS item_id FROM hit WHERE owner_type = 'item'
    UNION
    SELECT h.word, m.item_id FROM hit h
    JOIN mapping m ON m.catalog_id = %(catalog_id)s AND m.generation = %(generation)s AND m.listing_id = h.owner_id
    WHERE h.owner_type = 'listing' AND m.item_id IS NOT NULL
)
SELECT i.item_id, i.state, i.merged_into, i.because, i.revision, i.decision_id, i.occurred_at
FROM (SELECT item_id FROM found GROUP BY item_id HAVING count(DISTINCT word) = %(words)s) f
JOIN item i ON i.catalog_id = %(catalog_id)s AND i.generation = %(generation)s AND i.item_id = f.item_id
WHERE i.state = 'active' AND i.item_id > %(after)s
ORDER BY i.item_id
LIMIT %(limit)s;

-- name: find_root
-- The item, or the one that it was merged into, however often that happened.
WITH RECURSIVE chain AS (
    SELECT item_id, merged_into, 0 AS steps FROM item
    WHERE catalog_id = %(catalog_id)s AND generation = %(generation)s AND item_id = %(item_id)s
    UNION ALL
    SELECT i.item_id, i.merged_into, c.steps + 1 FROM chain c
    JOIN item i ON i.catalog_id = %(catalog_id)s AND i.generation = %(generation)s AND i.item_id = c.merged_into
    WHERE c.steps < 1000
)
SELECT i.item_id, i.state, i.merged_into, i.because, i.revision, i.decision_id, i.occurred_at
FROM (SELECT item_id FROM chain ORDER BY steps DESC LIMIT 1) last
JOIN item i ON i.catalog_id = %(catalog_id)s AND i.generation = %(generation)s AND i.item_id = last.item_id;

-- name: list_attributes
-- The attributes of these items and listings, cleared ones too, for their revisions.
SELECT attribute_id, owner_id, name, line, value, by, evidence, because, revision, decision_id, occurred_at
FROM attribute
WHERE catalog_id = %(catalog_id)s AND generation = %(generation)s AND owner_id = ANY (%(owner_id)b::text[])
ORDER BY owner_id, name, line;

-- name: list_mappings
-- The listings that are these items.
SELECT listing_id, item_id, home_item_id, source_id, listing_key, serial, url, group_key, via, score, evidence,
       revision, decision_id, occurred_at
FROM mapping
WHERE catalog_id = %(catalog_id)s AND generation = %(generation)s AND item_id = ANY (%(item_id)b::text[])
ORDER BY source_id, listing_key, serial, listing_id;
