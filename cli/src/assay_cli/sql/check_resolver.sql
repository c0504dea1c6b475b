-- name: i1_accepted_without_stored_evidence
-- An artifact of an accepted capture whose evidence row is absent, not stored, or differs in length.
SELECT a.tenant_id || ' ' || a.artifact_id FROM artifact a
LEFT JOIN evidence e ON (e.tenant_id, e.sha256) = (a.tenant_id, a.sha256)
WHERE e.state IS DISTINCT FROM 'stored' OR e.bytes IS DISTINCT FROM a.bytes;

-- name: i1_capture_without_artifact
-- An accepted capture that rests on no bytes.
SELECT c.tenant_id || ' ' || c.capture_id FROM capture c
WHERE NOT EXISTS (SELECT FROM artifact a WHERE (a.tenant_id, a.capture_id) = (c.tenant_id, c.capture_id));

-- name: i1_capture_without_receipt
-- An accepted capture for which nobody holds a promise.
SELECT c.tenant_id || ' ' || c.capture_id FROM capture c
WHERE NOT EXISTS (SELECT FROM receipt t WHERE (t.tenant_id, t.capture_id) = (c.tenant_id, c.capture_id));

-- name: i2_capture_without_job
-- An accepted capture that nobody was asked to read; a person's statement needs no stage.
SELECT c.tenant_id || ' ' || c.capture_id FROM capture c
WHERE c.source_id <> 'src_people'
  AND NOT EXISTS (SELECT FROM job j WHERE (j.tenant_id, j.capture_id, j.stage) = (c.tenant_id, c.capture_id, 'extract'));

-- name: i2_job_ended_without_trace
-- A job that says done without an inbox row, or has one and says otherwise.
SELECT COALESCE(j.tenant_id, i.tenant_id) || ' ' || COALESCE(j.job_id, i.job_id) || ' ' || COALESCE(j.state, 'unknown')
FROM job j FULL JOIN inbox i ON (i.tenant_id, i.job_id) = (j.tenant_id, j.job_id)
WHERE COALESCE(j.state = 'done', false) <> (i.job_id IS NOT NULL);

-- name: i2_job_dead_without_letter
-- A job that was given up on and left nothing to redrive.
SELECT j.tenant_id || ' ' || j.job_id FROM job j
WHERE j.state = 'dead'
  AND NOT EXISTS (SELECT FROM dead_letter d WHERE (d.tenant_id, d.job_id) = (j.tenant_id, j.job_id));

-- name: i2_chain_broken
-- A stage that ended well and left the next one without a job.
SELECT j.tenant_id || ' ' || j.job_id FROM job j
JOIN (VALUES ('extract', 'normalize'), ('normalize', 'identity')) AS follows (stage, next) ON follows.stage = j.stage
WHERE j.state = 'done' AND NOT EXISTS (
    SELECT FROM job n
    WHERE (n.tenant_id, n.capture_id, n.attempt_group, n.stage)
        = (j.tenant_id, j.capture_id, j.attempt_group, follows.next));

-- name: i2_job_before_its_turn
-- A stage's job that exists although the stage before has not ended well.
SELECT j.tenant_id || ' ' || j.job_id FROM job j
JOIN (VALUES ('extract', 'normalize'), ('normalize', 'identity')) AS follows (stage, next) ON follows.next = j.stage
WHERE NOT EXISTS (
    SELECT FROM job b
    WHERE (b.tenant_id, b.capture_id, b.attempt_group, b.stage, b.state)
        = (j.tenant_id, j.capture_id, j.attempt_group, follows.stage, 'done'));

-- name: i2_extraction_without_job
-- What was found by a job that is not done: an effect outside its transaction.
SELECT DISTINCT x.tenant_id || ' ' || x.capture_id || ' group ' || x.attempt_group FROM extraction x
WHERE NOT EXISTS (
    SELECT FROM inbox i WHERE (i.tenant_id, i.job_id) = (x.tenant_id, x.capture_id || ':extract:' || x.attempt_group))
  AND NOT EXISTS (
    SELECT FROM capture c WHERE (c.tenant_id, c.capture_id, c.source_id) = (x.tenant_id, x.capture_id, 'src_people'));

-- name: i2_reading_without_job
-- A reading of a job that is not done.
SELECT r.tenant_id || ' ' || r.reading_id FROM reading r
WHERE NOT EXISTS (
    SELECT FROM inbox i WHERE (i.tenant_id, i.job_id) = (r.tenant_id, r.capture_id || ':normalize:' || r.attempt_group))
  AND NOT EXISTS (
    SELECT FROM capture c WHERE (c.tenant_id, c.capture_id, c.source_id) = (r.tenant_id, r.capture_id, 'src_people'));

-- name: i2_decision_without_job
-- A rule's decision that no job which is done asked for.
SELECT d.tenant_id || '/' || d.catalog_id || ' ' || d.decision_id FROM decision d
WHERE d.actor = 'rule:identity' AND NOT EXISTS (
    SELECT FROM inbox i WHERE (i.tenant_id, i.job_id) = (d.tenant_id, split_part(d.request_id, '#', 1)));

-- name: i2_done_without_result
-- A job that says what came of it, of which nothing is there.
SELECT j.tenant_id || ' ' || j.job_id || ' ' || j.outcome FROM job j
WHERE j.state = 'done' AND CASE j.stage
    WHEN 'extract' THEN EXISTS (
        SELECT FROM artifact a
        WHERE (a.tenant_id, a.capture_id) = (j.tenant_id, j.capture_id) AND NOT EXISTS (
            SELECT FROM extraction x
            WHERE (x.tenant_id, x.capture_id, x.attempt_group, x.sha256)
                = (j.tenant_id, j.capture_id, j.attempt_group, a.sha256)))
    WHEN 'normalize' THEN (j.outcome = 'ok') <> EXISTS (
        SELECT FROM reading r
        WHERE (r.tenant_id, r.capture_id, r.attempt_group) = (j.tenant_id, j.capture_id, j.attempt_group))
    WHEN 'identity' THEN CASE
        WHEN j.outcome IN ('created', 'mapped', 'changed') THEN NOT EXISTS (
            SELECT FROM decision d
            WHERE d.tenant_id = j.tenant_id AND d.actor = 'rule:identity'
              AND split_part(d.request_id, '#', 1) = j.job_id)
        WHEN j.outcome = 'case' THEN NOT EXISTS (
            SELECT FROM reading r
            JOIN capture c ON (c.tenant_id, c.capture_id) = (r.tenant_id, r.capture_id)
            JOIN listing l ON (l.tenant_id, l.catalog_id, l.source_id, l.key)
                = (r.tenant_id, r.catalog_id, c.source_id, r.key)
            JOIN review_case k ON (k.tenant_id, k.catalog_id, k.subject) = (l.tenant_id, l.catalog_id, l.listing_id)
            WHERE (r.tenant_id, r.capture_id, r.attempt_group) = (j.tenant_id, j.capture_id, j.attempt_group))
        ELSE false END
    ELSE false END;

-- name: i4_positions_not_whole
-- A stream whose changes are not at 1..n, n being its cursor.
SELECT COALESCE(c.tenant_id, h.tenant_id) || '/' || COALESCE(c.catalog_id, h.catalog_id) || '/'
    || COALESCE(c.history_epoch, h.history_epoch) || ' cursor ' || COALESCE(c.position, 0) || ', changes '
    || COALESCE(h.changes, 0) || ' from ' || COALESCE(h.first, 0) || ' to ' || COALESCE(h.last, 0)
FROM cursor c
FULL JOIN (
    SELECT tenant_id, catalog_id, history_epoch, count(*) AS changes, min(position) AS first, max(position) AS last
    FROM change GROUP BY 1, 2, 3) AS h
    ON (h.tenant_id, h.catalog_id, h.history_epoch) = (c.tenant_id, c.catalog_id, c.history_epoch)
WHERE COALESCE(h.changes, 0) <> COALESCE(c.position, 0) OR COALESCE(h.last, 0) <> COALESCE(c.position, 0)
   OR COALESCE(h.first, 1) <> 1;

-- name: i4_position_announced_otherwise
-- A change with several outbox rows, or with that of another event at its position.
SELECT h.tenant_id || '/' || h.catalog_id || '/' || h.history_epoch || ' ' || h.position FROM change h
JOIN outbox o ON (o.tenant_id, o.catalog_id, o.history_epoch, o.position)
    = (h.tenant_id, h.catalog_id, h.history_epoch, h.position)
GROUP BY h.tenant_id, h.catalog_id, h.history_epoch, h.position, h.event_id
HAVING count(o.id) <> 1 OR min(o.event_id::text) <> h.event_id::text;

-- name: i4_event_without_change
-- An outbox row of a position that no decision took.
SELECT o.tenant_id || '/' || o.catalog_id || '/' || o.history_epoch || ' ' || o.position FROM outbox o
WHERE NOT EXISTS (
    SELECT FROM change h
    WHERE (h.tenant_id, h.catalog_id, h.history_epoch, h.position)
        = (o.tenant_id, o.catalog_id, o.history_epoch, o.position));

-- name: i5_published_beyond_history
-- A stream that is marked as published further than it goes.
SELECT r.tenant_id || '/' || r.catalog_id || '/' || r.history_epoch || ' published ' || r.published FROM relay_stream r
LEFT JOIN cursor c USING (tenant_id, catalog_id, history_epoch)
WHERE r.published > COALESCE(c.position, 0);

-- name: i6_revision_went_back
-- An aggregate whose revisions do not rise by one, in the order of their positions, from one or from an older epoch's.
SELECT tenant_id || '/' || catalog_id || ' ' || aggregate || ' ' || id || ' revision ' || revision
FROM (
    SELECT *, lag(revision) OVER (
        PARTITION BY tenant_id, catalog_id, history_epoch, aggregate, id ORDER BY position) AS before
    FROM change) AS h
WHERE CASE
    WHEN before IS NOT NULL THEN revision <> before + 1
    ELSE revision <> 1 AND NOT EXISTS (
        SELECT FROM change older
        WHERE (older.tenant_id, older.catalog_id, older.aggregate, older.id, older.revision)
            = (h.tenant_id, h.catalog_id, h.aggregate, h.id, h.revision - 1) AND older.history_epoch <> h.history_epoch)
    END;

-- name: i6_row_behind_its_changes
-- A row whose revision is not that of its latest change.
WITH latest AS (
    SELECT tenant_id, catalog_id, aggregate, id, max(revision) AS revision FROM change GROUP BY 1, 2, 3, 4),
standing AS (
    SELECT tenant_id, catalog_id, 'item' AS aggregate, item_id AS id, revision FROM item
    UNION ALL SELECT tenant_id, catalog_id, 'mapping', listing_id, revision FROM mapping
    UNION ALL SELECT tenant_id, catalog_id, 'attribute', attribute_id, revision FROM attribute)
SELECT tenant_id || '/' || catalog_id || ' ' || aggregate || ' ' || id
FROM latest l FULL JOIN standing s USING (tenant_id, catalog_id, aggregate, id)
WHERE l.revision IS DISTINCT FROM s.revision;

-- name: i6_row_not_as_decided
-- A row that says something else than the change that made it.
SELECT h.tenant_id || '/' || h.catalog_id || ' ' || h.aggregate || ' ' || h.id
FROM change h
LEFT JOIN attribute a ON h.aggregate = 'attribute' AND (a.tenant_id, a.catalog_id, a.attribute_id, a.revision)
    = (h.tenant_id, h.catalog_id, h.id, h.revision)
LEFT JOIN mapping m ON h.aggregate = 'mapping' AND (m.tenant_id, m.catalog_id, m.listing_id, m.revision)
    = (h.tenant_id, h.catalog_id, h.id, h.revision)
LEFT JOIN item i ON h.aggregate = 'item' AND (i.tenant_id, i.catalog_id, i.item_id, i.revision)
    = (h.tenant_id, h.catalog_id, h.id, h.revision)
CROSS JOIN LATERAL (SELECT h.data::jsonb AS said) AS d
WHERE (a.attribute_id IS NOT NULL AND (a.value::jsonb, a.by, a.owner_type, a.owner_id, a.name, NULLIF(a.line, ''))
        IS DISTINCT FROM (said -> 'value', said ->> 'by', said -> 'owner' ->> 'type', said -> 'owner' ->> 'id',
            said ->> 'name', said ->> 'line'))
   OR (m.listing_id IS NOT NULL AND (m.item_id, m.home_item_id, m.via, m.score)
        IS DISTINCT FROM (said ->> 'item_id', said ->> 'home_item_id', said ->> 'via', said ->> 'score'))
   OR (i.item_id IS NOT NULL AND (i.state, i.merged_into) IS DISTINCT FROM (
        CASE h.type WHEN 'item.merged' THEN 'merged' WHEN 'item.retired' THEN 'retired' ELSE 'active' END,
        said ->> 'into'));

-- name: i8_event_pruned_too_early
-- An event above its stream's floor that is neither in the outbox nor among the rows that were kept.
SELECT c.tenant_id || '/' || c.catalog_id || '/' || c.history_epoch || ' misses '
    || (c.position - COALESCE(f.pruned_through, 0) - count(DISTINCT o.position))
FROM cursor c
LEFT JOIN stream_floor f USING (tenant_id, catalog_id, history_epoch)
LEFT JOIN (
    SELECT tenant_id, catalog_id, history_epoch, position FROM outbox
    UNION ALL SELECT tenant_id, catalog_id, history_epoch, position FROM outbox_kept) AS o
    ON (o.tenant_id, o.catalog_id, o.history_epoch) = (c.tenant_id, c.catalog_id, c.history_epoch)
    AND o.position > COALESCE(f.pruned_through, 0) AND o.position <= c.position
GROUP BY c.tenant_id, c.catalog_id, c.history_epoch, c.position, f.pruned_through
HAVING count(DISTINCT o.position) < c.position - COALESCE(f.pruned_through, 0);

-- name: i8_pruned_above_a_reader
-- A stream that begins later than a live consumer, or a lease that still holds, was promised.
SELECT f.tenant_id || '/' || f.catalog_id || '/' || f.history_epoch || ' floor ' || f.pruned_through || ', consumer '
    || c.name || ' at ' || p.position
FROM stream_floor f
JOIN consumer_progress p USING (tenant_id, catalog_id, history_epoch)
JOIN consumer c ON c.name = p.name AND c.kind = 'live'
WHERE f.pruned_through > p.position AND f.released_by IS NULL
UNION ALL
SELECT f.tenant_id || '/' || f.catalog_id || '/' || f.history_epoch || ' floor ' || f.pruned_through || ', lease '
    || l.lease_id || ' at ' || l.position
FROM stream_floor f JOIN retention_lease l USING (tenant_id, catalog_id, history_epoch)
WHERE f.pruned_through > l.position AND l.expires_at > clock_timestamp();

-- name: i8_pruned_before_published
-- A stream that begins later than what Kafka has of it.
SELECT f.tenant_id || '/' || f.catalog_id || '/' || f.history_epoch || ' floor ' || f.pruned_through
FROM stream_floor f LEFT JOIN relay_stream r USING (tenant_id, catalog_id, history_epoch)
WHERE f.pruned_through > COALESCE(r.published, 0);

-- name: i10_decision_of_no_open_epoch
-- A decision under an epoch that was closed, after the next one had begun.
SELECT d.tenant_id || '/' || d.catalog_id || ' ' || d.decision_id || ' ' || d.history_epoch FROM decision d
JOIN history_epoch e ON e.name = d.history_epoch AND e.state = 'closed'
WHERE d.decided_at > (
    SELECT min(later.decided_at) FROM decision later
    JOIN history_epoch n ON n.name = later.history_epoch AND n.ordinal > e.ordinal);

-- name: i10_job_done_under_closed_epoch
-- A job that took effect under an epoch that was closed, after the next one had begun.
SELECT j.tenant_id || ' ' || j.job_id || ' ' || j.history_epoch FROM job j
JOIN inbox i ON (i.tenant_id, i.job_id) = (j.tenant_id, j.job_id)
JOIN history_epoch e ON e.name = j.history_epoch AND e.state = 'closed'
WHERE i.done_at > (
    SELECT min(first.done_at) FROM inbox first
    JOIN job l ON (l.tenant_id, l.job_id) = (first.tenant_id, first.job_id)
    JOIN history_epoch n ON n.name = l.history_epoch AND n.ordinal > e.ordinal);

-- name: i10_change_of_another_epoch
-- A change in the stream of another epoch than that of its decision.
SELECT h.tenant_id || '/' || h.catalog_id || '/' || h.history_epoch || ' ' || h.position FROM change h
JOIN decision d ON (d.tenant_id, d.catalog_id, d.decision_id) = (h.tenant_id, h.catalog_id, h.decision_id)
WHERE d.history_epoch <> h.history_epoch;

-- name: i11_table_not_fenced
-- A table that names a tenant and does not force row level security.
SELECT c.relname FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity);

-- name: i11_policy_not_as_listed
-- A policy that lets somebody see more or less than the roles that are listed here.
WITH fenced AS (
    SELECT c.relname::text AS relname, pg_get_userbyid(c.relowner)::text AS owner FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition),
listed AS (
    SELECT relname, 'own_tenant' AS policy, ARRAY['assay_intake', 'assay_relay_api', 'assay_resolver_api'] AS roles, 'ALL' AS command,
        '(tenant_id = current_setting(''assay.tenant_id''::text, true))' AS condition FROM fenced
    UNION ALL
    SELECT relname, 'every_tenant', ARRAY['assay_checker', 'assay_operator', 'assay_relay_events', 'assay_relay_jobs',
        'assay_relay_prune', 'assay_stages'], 'ALL', 'true' FROM fenced
    UNION ALL
    SELECT relname, 'by_key_id', ARRAY[owner], 'SELECT', 'true' FROM fenced WHERE relname = 'api_key'
    UNION ALL
    SELECT relname, 'by_stream_name', ARRAY[owner], 'SELECT', 'true' FROM fenced
    WHERE relname IN ('cursor', 'stream_floor')),
standing AS (
    SELECT tablename::text AS relname, policyname::text AS policy,
        ARRAY(SELECT role::text FROM unnest(roles) AS role ORDER BY role::text COLLATE "C") AS roles, cmd AS command,
        qual AS condition, with_check, permissive
    FROM pg_policies WHERE schemaname = 'public')
SELECT relname || ' ' || policy FROM listed l FULL JOIN standing s USING (relname, policy)
WHERE (l.roles, l.command, l.condition) IS DISTINCT FROM (s.roles, s.command, s.condition)
   OR s.with_check IS NOT NULL OR s.permissive <> 'PERMISSIVE';

-- name: i11_role_sees_past_policies
-- A role of ours that no policy binds, or that is also another role; only the migrator made them all.
SELECT rolname FROM pg_roles WHERE starts_with(rolname, 'assay_') AND (rolsuper OR rolbypassrls)
UNION ALL
SELECT member.rolname || ' is also ' || held.rolname FROM pg_auth_members m
JOIN pg_roles member ON member.oid = m.member
JOIN pg_roles held ON held.oid = m.roleid
WHERE starts_with(member.rolname, 'assay_') AND member.rolname <> 'assay_migrator';

-- name: i11_evidence_of_another_tenant
-- A change or a decision that shows its reader the evidence of another tenant.
SELECT h.tenant_id || '/' || h.catalog_id || ' ' || h.id FROM change h
WHERE EXISTS (
    SELECT FROM json_array_elements(COALESCE(h.data::json -> 'evidence', '[]')) AS one
    WHERE NOT starts_with(one ->> 'ref', 'r2://evidence-private/' || h.tenant_id || '/'))
UNION ALL
SELECT d.tenant_id || '/' || d.catalog_id || ' ' || d.decision_id FROM decision d
WHERE EXISTS (
    SELECT FROM unnest(d.evidence) AS ref WHERE NOT starts_with(ref, 'r2://evidence-private/' || d.tenant_id || '/'));

-- name: i14_value_without_decision
-- An accepted value whose revision no decision made.
SELECT a.tenant_id || '/' || a.catalog_id || ' ' || a.attribute_id FROM attribute a
WHERE a.value IS NOT NULL AND NOT EXISTS (
    SELECT FROM change c JOIN decision d ON (d.tenant_id, d.catalog_id, d.decision_id)
        = (c.tenant_id, c.catalog_id, c.decision_id)
    WHERE (c.tenant_id, c.catalog_id, c.aggregate, c.id, c.revision)
        = (a.tenant_id, a.catalog_id, 'attribute', a.attribute_id, a.revision));

-- name: i14_value_without_bytes
-- An accepted value, or a listing's place, that no fact with stored evidence supports.
SELECT accepted.tenant_id || '/' || accepted.catalog_id || ' ' || accepted.id
FROM (
    SELECT tenant_id, catalog_id, aggregate, attribute_id AS id, revision FROM attribute WHERE value IS NOT NULL
    UNION ALL
    SELECT tenant_id, catalog_id, aggregate, listing_id, revision FROM mapping WHERE item_id IS NOT NULL) AS accepted
WHERE NOT EXISTS (
    SELECT FROM support s
    JOIN fact f ON (f.tenant_id, f.catalog_id, f.reading_id, f.n) = (s.tenant_id, s.catalog_id, s.reading_id, s.n)
    JOIN evidence e ON (e.tenant_id, e.sha256) = (f.tenant_id, f.sha256) AND e.state = 'stored'
    WHERE (s.tenant_id, s.catalog_id, s.aggregate, s.id, s.revision)
        = (accepted.tenant_id, accepted.catalog_id, accepted.aggregate, accepted.id, accepted.revision));

-- name: i14_fact_of_other_bytes
-- A fact that was read from bytes which are no part of its capture, or by nobody.
SELECT f.tenant_id || '/' || f.catalog_id || ' ' || f.reading_id || ':' || f.n FROM fact f
WHERE NOT EXISTS (
    SELECT FROM artifact a WHERE (a.tenant_id, a.capture_id, a.sha256) = (f.tenant_id, f.capture_id, f.sha256))
   OR NOT EXISTS (
    SELECT FROM extraction x
    WHERE (x.tenant_id, x.catalog_id, x.capture_id, x.attempt_group, x.sha256, x.adapter)
        = (f.tenant_id, f.catalog_id, f.capture_id, f.attempt_group, f.sha256, f.adapter));

-- name: i14_evidence_is_not_its_support
-- A change that shows other facts than those that it rests on.
SELECT h.tenant_id || '/' || h.catalog_id || ' ' || h.aggregate || ' ' || h.id || ' revision ' || h.revision
FROM change h
WHERE h.type IN ('attribute.set', 'mapping.set')
  AND ARRAY(SELECT one ->> 'fact' FROM json_array_elements(h.data::json -> 'evidence') AS one ORDER BY 1)
    <> ARRAY(SELECT s.reading_id || ':' || s.n FROM support s
             WHERE (s.tenant_id, s.catalog_id, s.aggregate, s.id, s.revision)
                 = (h.tenant_id, h.catalog_id, h.aggregate, h.id, h.revision) ORDER BY 1);

-- name: i15_stream_held
-- A stream that the relay does not send until a person has looked.
SELECT tenant_id || '/' || catalog_id || '/' || history_epoch || ' ' || held FROM relay_stream WHERE held IS NOT NULL;

-- name: model_mapping_not_to_root
-- A mapping whose item is not where its home leads.
WITH RECURSIVE path (tenant_id, catalog_id, listing_id, item_id) AS (
    SELECT tenant_id, catalog_id, listing_id, home_item_id FROM mapping WHERE item_id IS NOT NULL
    UNION
    SELECT p.tenant_id, p.catalog_id, p.listing_id, i.merged_into FROM path p
    JOIN item i ON (i.tenant_id, i.catalog_id, i.item_id) = (p.tenant_id, p.catalog_id, p.item_id)
    WHERE i.merged_into IS NOT NULL)
SELECT m.tenant_id || '/' || m.catalog_id || ' ' || m.listing_id FROM mapping m
WHERE m.item_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM path p
    JOIN item i ON (i.tenant_id, i.catalog_id, i.item_id) = (p.tenant_id, p.catalog_id, p.item_id)
    WHERE (p.tenant_id, p.catalog_id, p.listing_id) = (m.tenant_id, m.catalog_id, m.listing_id)
      AND i.merged_into IS NULL AND i.item_id = m.item_id);

-- name: model_listing_forgotten
-- An open listing that is mapped to nothing, in no open case, and with no job that could still place it.
SELECT l.tenant_id || '/' || l.catalog_id || ' ' || l.listing_id FROM listing l
LEFT JOIN mapping m ON (m.tenant_id, m.catalog_id, m.listing_id) = (l.tenant_id, l.catalog_id, l.listing_id)
WHERE l.state = 'open' AND m.item_id IS NULL
  AND NOT EXISTS (
    SELECT FROM review_case c
    WHERE (c.tenant_id, c.catalog_id, c.subject, c.state) = (l.tenant_id, l.catalog_id, l.listing_id, 'open'))
  AND NOT EXISTS (
    SELECT FROM reading r JOIN job j ON (j.tenant_id, j.capture_id) = (r.tenant_id, r.capture_id) AND j.state = 'open'
    WHERE (r.tenant_id, r.catalog_id, r.reading_id) = (l.tenant_id, l.catalog_id, l.reading_id));

-- name: model_listing_speaks_by_older
-- A listing that a later page of its source has passed by; one that was ever asked about may wait for its answer.
WITH decided AS (
    SELECT r.tenant_id, r.catalog_id, c.source_id, r.key, r.reading_id, row_number() OVER (
        PARTITION BY r.tenant_id, r.catalog_id, c.source_id, r.key
        ORDER BY c.observed_at DESC, c.received_at DESC, t.receipt_id COLLATE "C" DESC, r.attempt_group DESC) AS nth
    FROM reading r
    JOIN capture c ON (c.tenant_id, c.capture_id) = (r.tenant_id, r.capture_id)
    JOIN receipt t ON (t.tenant_id, t.capture_id) = (r.tenant_id, r.capture_id)
    WHERE EXISTS (
        SELECT FROM inbox i
        WHERE (i.tenant_id, i.job_id) = (r.tenant_id, r.capture_id || ':identity:' || r.attempt_group))
      AND EXISTS (
        SELECT FROM fact f
        WHERE (f.tenant_id, f.catalog_id, f.reading_id) = (r.tenant_id, r.catalog_id, r.reading_id)
          AND f.value IS NOT NULL))
SELECT l.tenant_id || '/' || l.catalog_id || ' ' || l.listing_id FROM listing l
JOIN decided d USING (tenant_id, catalog_id, source_id, key)
WHERE d.nth = 1 AND d.reading_id <> l.reading_id AND l.state IN ('open', 'gone')
  AND NOT EXISTS (
    SELECT FROM review_case k
    WHERE (k.tenant_id, k.catalog_id, k.subject, k.kind) = (l.tenant_id, l.catalog_id, l.listing_id, 'collision'));

-- name: model_item_key_differs
-- An exact key that does not lead where the mapped listings that state it are.
WITH derived AS (
    SELECT k.tenant_id, k.catalog_id, k.kind, k.value,
        CASE WHEN count(DISTINCT m.item_id) = 1 THEN min(m.item_id) END AS item_id
    FROM listing_key k
    JOIN mapping m ON (m.tenant_id, m.catalog_id, m.listing_id) = (k.tenant_id, k.catalog_id, k.listing_id)
    WHERE k.kind IN ('gtin', 'brand_mpn') AND m.item_id IS NOT NULL
    GROUP BY 1, 2, 3, 4)
SELECT tenant_id || '/' || catalog_id || ' ' || kind || ' ' || value
FROM derived d FULL JOIN item_key i USING (tenant_id, catalog_id, kind, value)
WHERE d.kind IS NULL OR i.kind IS NULL OR d.item_id IS DISTINCT FROM i.item_id;

-- name: model_attribute_of_nobody
-- An accepted value of an item or a listing that is not there.
SELECT a.tenant_id || '/' || a.catalog_id || ' ' || a.attribute_id FROM attribute a
WHERE NOT EXISTS (
    SELECT FROM item i WHERE a.owner_type = 'item'
      AND (i.tenant_id, i.catalog_id, i.item_id) = (a.tenant_id, a.catalog_id, a.owner_id))
  AND NOT EXISTS (
    SELECT FROM listing l WHERE a.owner_type = 'listing'
      AND (l.tenant_id, l.catalog_id, l.listing_id) = (a.tenant_id, a.catalog_id, a.owner_id));

-- name: model_constraint_not_enforced
-- A rule of the model that the database no longer keeps.
SELECT kept.relname || ' ' || kept.name FROM (VALUES
    ('receipt', 'receipt_capture_once'), ('receipt', 'receipt_idempotency_once'), ('job', 'job_pkey'),
    ('job', 'job_once_per_stage_and_group'), ('job', 'job_names_its_work'), ('inbox', 'inbox_pkey'),
    ('dead_letter', 'dead_letter_pkey'), ('evidence', 'evidence_pkey'), ('artifact', 'artifact_evidence_fk'),
    ('reading', 'reading_node_once'), ('fact', 'fact_reading_fk'), ('fact', 'fact_extraction_fk'),
    ('cursor', 'cursor_pkey'), ('decision', 'decision_request_once'), ('change', 'change_pkey'),
    ('change', 'change_decision_fk'), ('change', 'change_position_once'), ('support', 'support_change_fk'),
    ('support', 'support_fact_fk'), ('item', 'item_change_fk'), ('item', 'item_root_once'),
    ('mapping', 'mapping_pkey'), ('mapping', 'mapping_change_fk'), ('mapping', 'mapping_to_root'),
    ('attribute', 'attribute_pkey'), ('attribute', 'attribute_id_once'), ('attribute', 'attribute_change_fk'),
    ('item_key', 'item_key_pkey'), ('listing', 'listing_serial_key'), ('listing', 'listing_one_live'),
    ('review_case', 'case_one_open'), ('pin', 'pin_one_standing'), ('verdict', 'verdict_one_standing'),
    ('item', 'item_not_into_itself'), ('decision_part', 'decision_part_decision_fk'), ('history_epoch', 'history_epoch_one_open'),
    ('api_key', 'api_key_id_once')) AS kept (relname, name)
WHERE NOT EXISTS (
    SELECT FROM pg_constraint c
    WHERE c.conrelid = to_regclass('public.' || kept.relname) AND c.conname = kept.name
      AND c.convalidated AND c.conenforced)
  AND NOT EXISTS (
    SELECT FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
    WHERE x.indrelid = to_regclass('public.' || kept.relname) AND i.relname = kept.name
      AND x.indisunique AND x.indisvalid)
UNION ALL
SELECT t.tgrelid::regclass || ' ' || t.tgname FROM pg_trigger t WHERE t.tgenabled <> 'O';

-- name: model_history_can_be_altered
-- A table of the history that lets its rows be changed, or values in without support.
SELECT kept.relname || ' ' || kept.name FROM (VALUES
    ('extraction', 'extraction_is_immutable'), ('reading', 'reading_is_immutable'), ('fact', 'fact_is_immutable'),
    ('decision', 'decision_is_immutable'), ('change', 'change_is_immutable'), ('support', 'support_is_immutable'),
    ('change', 'change_has_support'),
    ('decision_part', 'decision_part_is_immutable'), ('case_revision', 'case_revision_is_immutable')) AS kept (relname, name)
WHERE NOT EXISTS (
    SELECT FROM pg_trigger t WHERE t.tgrelid = to_regclass('public.' || kept.relname) AND t.tgname = kept.name);
