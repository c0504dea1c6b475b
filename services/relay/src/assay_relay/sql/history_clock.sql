-- name: raise_clock
-- One tick of this history, durable at its commit.
UPDATE history_clock AS c SET clock = clock + 1
FROM (SELECT ordinal, name FROM history_epoch ORDER BY ordinal DESC LIMIT 1) AS e
RETURNING c.database_id, e.ordinal, c.clock, e.name;
