-- name: list_epochs
-- Every incarnation of the history, oldest first.
SELECT ordinal, name, state FROM history_epoch ORDER BY ordinal;

-- name: find_open
-- The one incarnation in which work takes effect.
SELECT ordinal, name, state FROM history_epoch WHERE state = 'open';

-- name: close_open
-- From now on nothing new takes effect under it; who read before that it was open may still commit.
UPDATE history_epoch SET state = 'closed' WHERE state = 'open' RETURNING ordinal, name, state;

-- name: insert_open
-- The next incarnation.
INSERT INTO history_epoch (ordinal, name, state) VALUES (%(ordinal)s, %(name)s, 'open');

-- name: list_catalogs
-- Every catalog that has a history.
SELECT DISTINCT tenant_id, catalog_id FROM cursor ORDER BY 1, 2;

-- name: begin_stream
-- A catalog's stream in the new epoch, at position 0.
INSERT INTO cursor (tenant_id, catalog_id, history_epoch) VALUES (%(tenant_id)s, %(catalog_id)s, %(history_epoch)s);

-- name: insert_genesis
-- What the new stream begins with.
INSERT INTO snapshot (tenant_id, catalog_id, history_epoch, position, digest, sha256, bytes, facts, is_genesis)
SELECT tenant_id, catalog_id, history_epoch, 0, digest, %(sha256)s, %(bytes)s, %(facts)s, true FROM cursor
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND history_epoch = %(history_epoch)s;

-- name: mint_jobs_anew
-- Open work goes on in the new epoch, under the same envelope; the sweeper owes each of them a send. The name stands in
-- the payload as our encoder writes it, which no text of a tenant can contain.
UPDATE job
SET history_epoch = %(name)s, sent_topic_id = NULL, sent_partition = NULL, sent_offset = NULL,
    payload = convert_to(replace(convert_from(payload, 'UTF8'), '"history_epoch":"' || history_epoch || '"',
                                 '"history_epoch":"' || %(name)s || '"'), 'UTF8')
WHERE state = 'open' AND history_epoch <> %(name)s;

-- name: note_advance
-- Who advanced, and why.
INSERT INTO retention_act (actor, act, subject, because) VALUES (%(actor)s, 'advance', %(name)s, %(because)s);

-- name: take_transaction
-- A transaction id younger than every transaction that could have read the epoch as open.
SELECT pg_current_xact_id()::text::bigint;

-- name: read_horizon
-- All transactions below this one are over.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
