-- name: insert_verdict
-- A person said that these two differ.
INSERT INTO verdict (tenant_id, catalog_id, "left", "right", decision_id)
VALUES (%(tenant_id)s, %(catalog_id)s, %(left)s, %(right)s, %(decision_id)s);

-- name: withdraw_verdict
-- It stands no longer.
UPDATE verdict SET withdrawn_by = %(decision_id)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND "left" = %(left)s AND "right" = %(right)s
  AND withdrawn_by IS NULL;

-- name: find_verdicts
-- Those of some pairs that stand.
SELECT v."left", v."right", v.decision_id FROM verdict v
JOIN unnest(%(lefts)s::text[], %(rights)s::text[]) AS w ("left", "right")
    ON v."left" = w."left" AND v."right" = w."right"
WHERE v.tenant_id = %(tenant_id)s AND v.catalog_id = %(catalog_id)s AND v.withdrawn_by IS NULL;

-- name: verdicts_between
-- What stands between two trees.
SELECT "left", "right", decision_id FROM verdict
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND withdrawn_by IS NULL
  AND "left" = ANY(%(one)s) AND "right" = ANY(%(other)s)
UNION
SELECT "left", "right", decision_id FROM verdict
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND withdrawn_by IS NULL
  AND "left" = ANY(%(other)s) AND "right" = ANY(%(one)s)
ORDER BY 1, 2;

-- name: tree_of_item
-- An item with the items below it and all their listings.
WITH RECURSIVE tree AS (
    SELECT %(item_id)s::text AS item_id
    UNION ALL
    SELECT i.item_id FROM tree t
    JOIN item i ON i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s AND i.merged_into = t.item_id)
SELECT item_id FROM tree
UNION ALL
SELECT listing_id FROM mapping
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND item_id = %(item_id)s;

-- name: items_differing_from
-- The roots that a listing was said to differ from: by themselves, by an item below them, or by one of their listings.
WITH RECURSIVE said AS (
    SELECT CASE WHEN "left" = %(listing_id)s THEN "right" ELSE "left" END AS id FROM verdict
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND withdrawn_by IS NULL
      AND ("left" = %(listing_id)s OR "right" = %(listing_id)s)),
path AS (
    (SELECT i.item_id, i.merged_into FROM said s
     JOIN item i ON i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s AND i.item_id = s.id
     UNION ALL
     SELECT m.item_id, NULL FROM said s
     JOIN mapping m ON m.tenant_id = %(tenant_id)s AND m.catalog_id = %(catalog_id)s AND m.listing_id = s.id
     WHERE m.item_id IS NOT NULL)
    UNION
    SELECT i.item_id, i.merged_into FROM path p
    JOIN item i ON i.tenant_id = %(tenant_id)s AND i.catalog_id = %(catalog_id)s AND i.item_id = p.merged_into)
SELECT item_id FROM path WHERE merged_into IS NULL;
