-- name: i1_accepted_without_stored_evidence
-- An artifact of an accepted capture whose evidence row is not stored, or differs in length.
SELECT a.tenant_id || ' ' || a.artifact_id FROM artifact a
JOIN evidence e ON (e.tenant_id, e.sha256) = (a.tenant_id, a.sha256)
WHERE e.state <> 'stored' OR e.bytes <> a.bytes;

-- name: i1_capture_without_artifact
-- An accepted capture that rests on no bytes.
SELECT c.tenant_id || ' ' || c.capture_id FROM capture c
WHERE NOT EXISTS (SELECT FROM artifact a WHERE (a.tenant_id, a.capture_id) = (c.tenant_id, c.capture_id));

-- name: i2_capture_without_job
-- An accepted capture that nobody was asked to read; a person's statement needs no stage.
SELECT c.tenant_id || ' ' || c.capture_id FROM capture c
WHERE c.source_id <> 'src_people'
  AND NOT EXISTS (SELECT FROM job j WHERE (j.tenant_id, j.capture_id, j.stage) = (c.tenant_id, c.capture_id, 'extract'));

-- name: i2_job_ended_without_trace
-- A job that says done without an inbox row, or has one and says otherwise.
SELECT j.tenant_id || ' ' || j.job_id || ' ' || j.state FROM job j
LEFT JOIN inbox i ON (i.tenant_id, i.job_id) = (j.tenant_id, j.job_id)
WHERE (j.state = 'done') <> (i.job_id IS NOT NULL);

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

-- name: i2_reading_without_job
-- A result whose job is not done: an effect outside its transaction.
SELECT r.tenant_id || ' ' || r.reading_id FROM reading r
WHERE NOT EXISTS (
    SELECT FROM inbox i WHERE (i.tenant_id, i.job_id) = (r.tenant_id, r.capture_id || ':normalize:' || r.attempt_group))
  AND NOT EXISTS (
    SELECT FROM capture c WHERE (c.tenant_id, c.capture_id, c.source_id) = (r.tenant_id, r.capture_id, 'src_people'));

-- name: i4_positions_not_whole
-- A stream whose changes are not at 1..n, n being its cursor.
SELECT c.tenant_id || '/' || c.catalog_id || '/' || c.history_epoch || ' cursor ' || c.position || ', changes '
    || count(h.position) || ' up to ' || COALESCE(max(h.position), 0)
FROM cursor c
LEFT JOIN change h ON (h.tenant_id, h.catalog_id, h.history_epoch) = (c.tenant_id, c.catalog_id, c.history_epoch)
GROUP BY c.tenant_id, c.catalog_id, c.history_epoch, c.position
HAVING count(h.position) <> c.position OR COALESCE(max(h.position), 0) <> c.position
    OR COALESCE(min(h.position), 1) <> 1;

-- name: i4_change_not_announced
-- A change without its outbox row, or an outbox row of another change at its position.
SELECT h.tenant_id || '/' || h.catalog_id || '/' || h.history_epoch || ' ' || h.position FROM change h
LEFT JOIN outbox o ON (o.tenant_id, o.catalog_id, o.history_epoch, o.position)
    = (h.tenant_id, h.catalog_id, h.history_epoch, h.position)
GROUP BY h.tenant_id, h.catalog_id, h.history_epoch, h.position, h.event_id
HAVING count(o.id) <> 1 OR min(o.event_id::text) <> h.event_id::text;

-- name: i6_revision_went_back
-- An aggregate whose revisions are not 1..n in the order of their positions.
SELECT tenant_id || '/' || catalog_id || ' ' || aggregate || ' ' || id || ' revision ' || revision
FROM (
    SELECT *, row_number() OVER (
        PARTITION BY tenant_id, catalog_id, history_epoch, aggregate, id ORDER BY position) AS nth
    FROM change) AS ordered
WHERE revision <> nth;

-- name: i6_row_behind_its_changes
-- A row whose revision is not that of its latest change.
WITH latest AS (
    SELECT tenant_id, catalog_id, aggregate, id, max(revision) AS revision FROM change GROUP BY 1, 2, 3, 4),
standing AS (
    SELECT tenant_id, catalog_id, 'item' AS aggregate, item_id AS id, revision FROM item
    UNION ALL SELECT tenant_id, catalog_id, 'mapping', listing_id, revision FROM mapping
    UNION ALL SELECT tenant_id, catalog_id, 'attribute', attribute_id, revision FROM attribute)
SELECT l.tenant_id || '/' || l.catalog_id || ' ' || l.aggregate || ' ' || l.id
FROM latest l FULL JOIN standing s USING (tenant_id, catalog_id, aggregate, id)
WHERE l.revision IS DISTINCT FROM s.revision;

-- name: i8_event_pruned_too_early
-- An event that left the outbox while nothing has yet said that nobody needs it.
SELECT c.tenant_id || '/' || c.catalog_id || '/' || c.history_epoch || ' misses ' || (c.position - count(o.id))
FROM cursor c
LEFT JOIN outbox o ON (o.tenant_id, o.catalog_id, o.history_epoch) = (c.tenant_id, c.catalog_id, c.history_epoch)
GROUP BY c.tenant_id, c.catalog_id, c.history_epoch, c.position
HAVING count(DISTINCT o.position) < c.position;

-- name: i10_decision_of_no_open_epoch
-- A decision under an epoch that was closed, after the next one had begun.
SELECT d.tenant_id || '/' || d.catalog_id || ' ' || d.decision_id || ' ' || d.history_epoch FROM decision d
JOIN history_epoch e ON e.name = d.history_epoch AND e.state = 'closed'
WHERE d.decided_at > (
    SELECT min(later.decided_at) FROM decision later
    JOIN history_epoch n ON n.name = later.history_epoch AND n.ordinal > e.ordinal);

-- name: i11_table_not_fenced
-- A table that names a tenant and does not force row level security.
SELECT c.relname FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity);

-- name: i14_value_without_decision
-- An accepted value whose revision no decision made.
SELECT a.tenant_id || '/' || a.catalog_id || ' ' || a.attribute_id FROM attribute a
WHERE a.value IS NOT NULL AND NOT EXISTS (
    SELECT FROM change c JOIN decision d ON (d.tenant_id, d.catalog_id, d.decision_id)
        = (c.tenant_id, c.catalog_id, c.decision_id)
    WHERE (c.tenant_id, c.catalog_id, c.aggregate, c.id, c.revision)
        = (a.tenant_id, a.catalog_id, 'attribute', a.attribute_id, a.revision));

-- name: i14_value_without_bytes
-- An accepted value that no fact with stored evidence supports.
SELECT a.tenant_id || '/' || a.catalog_id || ' ' || a.attribute_id FROM attribute a
WHERE a.value IS NOT NULL AND NOT EXISTS (
    SELECT FROM support s
    JOIN fact f ON (f.tenant_id, f.catalog_id, f.reading_id, f.n) = (s.tenant_id, s.catalog_id, s.reading_id, s.n)
    JOIN evidence e ON (e.tenant_id, e.sha256) = (f.tenant_id, f.sha256) AND e.state = 'stored'
    WHERE (s.tenant_id, s.catalog_id, s.aggregate, s.id, s.revision)
        = (a.tenant_id, a.catalog_id, 'attribute', a.attribute_id, a.revision));

-- name: model_mapping_not_to_root
-- A mapping whose item is not where its home leads.
SELECT m.tenant_id || '/' || m.catalog_id || ' ' || m.listing_id FROM mapping m
JOIN item h ON (h.tenant_id, h.catalog_id, h.item_id) = (m.tenant_id, m.catalog_id, m.home_item_id)
WHERE h.merged_into IS NULL AND m.item_id <> h.item_id;

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
