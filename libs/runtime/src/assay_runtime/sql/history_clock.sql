-- name: read_clock
-- Which database this is, the latest incarnation that it knows, and how far its clock has come.
SELECT c.database_id, e.ordinal, c.clock, e.name
FROM history_clock c CROSS JOIN (SELECT ordinal, name FROM history_epoch ORDER BY ordinal DESC LIMIT 1) AS e;
