-- name: count_captures
-- What intake has accepted.
SELECT count(*) FROM capture;

-- name: count_jobs
-- Each stage's work: ended, still open, given up on, and how long the oldest open job has waited.
SELECT stage, count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'open'),
       count(*) FILTER (WHERE state = 'dead'),
       COALESCE(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE state = 'open')), 0)::float8
FROM job GROUP BY stage;

-- name: count_decisions
-- What rules and people have decided, and the questions that wait for people.
SELECT (SELECT count(*) FROM decision), count(*),
       COALESCE(extract(epoch FROM clock_timestamp() - min(opened_at)), 0)::float8
FROM review_case WHERE state = 'open';

-- name: count_events
-- Events made, events acknowledged by Kafka, and how long the oldest other one has waited.
SELECT COALESCE(sum(r.published), 0)::bigint,
       COALESCE(sum(c.position - COALESCE(r.published, 0)), 0)::bigint,
       COALESCE(extract(epoch FROM clock_timestamp() - (
           SELECT min(o.created_at) FROM outbox o
           JOIN cursor oc USING (tenant_id, catalog_id, history_epoch)
           LEFT JOIN relay_stream s USING (tenant_id, catalog_id, history_epoch)
           WHERE o.position > COALESCE(s.published, 0) AND oc.position > COALESCE(s.published, 0))), 0)::float8,
       count(*) FILTER (WHERE r.held IS NOT NULL)
FROM cursor c LEFT JOIN relay_stream r USING (tenant_id, catalog_id, history_epoch);

-- name: count_applied
-- What live generations have processed, what is parked in them, which of them are halted.
SELECT COALESCE(sum(c.progress), 0)::bigint, COALESCE(sum(c.highest - c.processed), 0)::bigint,
       count(*) FILTER (WHERE c.halted IS NOT NULL),
       COALESCE(extract(epoch FROM clock_timestamp() - (SELECT min(parked_at) FROM parked)), 0)::float8
FROM generation g JOIN cursor c USING (tenant_id, catalog_id, generation)
WHERE g.state = 'live';

-- name: count_dead_letters
-- What was given up on.
SELECT count(*) FROM dead_letter;
