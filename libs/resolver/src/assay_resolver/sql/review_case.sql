-- name: open_case
-- One open case per kind and subject: a newer reading changes the standing one and raises its revision.
WITH asked AS (
    INSERT INTO review_case (tenant_id, catalog_id, case_id, kind, subject, reading_id, reason, opened_at)
    VALUES (%(tenant_id)s, %(catalog_id)s, %(case_id)s, %(kind)s, %(subject)s, %(reading_id)s, %(reason)s,
            %(opened_at)s)
    ON CONFLICT (tenant_id, catalog_id, kind, subject) WHERE state = 'open' DO UPDATE
    SET reading_id = EXCLUDED.reading_id, reason = EXCLUDED.reason, revision = review_case.revision + 1
    RETURNING tenant_id, catalog_id, case_id, revision, state, reading_id)
INSERT INTO case_revision (tenant_id, catalog_id, case_id, revision, state, reading_id, decision_id)
SELECT *, %(decision_id)s FROM asked
RETURNING case_id;

-- name: drop_refs
-- A case rests anew on what its latest reading met.
DELETE FROM case_ref WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND case_id = %(case_id)s;

-- name: insert_ref
-- Something that the case rests on: when it changes, the case's revision rises.
INSERT INTO case_ref (tenant_id, catalog_id, case_id, type, id)
VALUES (%(tenant_id)s, %(catalog_id)s, %(case_id)s, %(type)s, %(id)s)
ON CONFLICT DO NOTHING;

-- name: close_case
-- The reviewer's answer counts only at the revision that was looked at.
WITH closed AS (
    UPDATE review_case SET revision = revision + 1, state = %(state)s, decision_id = %(decision_id)s, closed_at = %(at)s
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND case_id = %(case_id)s
      AND revision = %(expected)s AND state = 'open'
    RETURNING tenant_id, catalog_id, case_id, revision, state, reading_id)
INSERT INTO case_revision (tenant_id, catalog_id, case_id, revision, state, reading_id, decision_id)
SELECT *, %(decision_id)s FROM closed;

-- name: withdraw_cases
-- The question is gone: the listing found its place otherwise.
WITH gone AS (
    UPDATE review_case SET revision = revision + 1, state = 'withdrawn', decision_id = %(decision_id)s,
        closed_at = %(at)s
    WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND subject = %(subject)s AND state = 'open'
      AND (%(reading_id)s::text IS NULL OR reading_id = %(reading_id)s)
    RETURNING tenant_id, catalog_id, case_id, revision, state, reading_id)
INSERT INTO case_revision (tenant_id, catalog_id, case_id, revision, state, reading_id, decision_id)
SELECT *, %(decision_id)s FROM gone
RETURNING case_id;

-- name: reopen_case
-- The question stands again, unless one like it is open.
WITH again AS (
    UPDATE review_case c SET revision = revision + 1, state = 'open', decision_id = NULL, closed_at = NULL
    WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.case_id = %(case_id)s
      AND c.state <> 'open' AND NOT EXISTS (
          SELECT FROM review_case o
          WHERE (o.tenant_id, o.catalog_id, o.kind, o.subject) = (c.tenant_id, c.catalog_id, c.kind, c.subject)
            AND o.state = 'open')
    RETURNING tenant_id, catalog_id, case_id, revision, state, reading_id)
INSERT INTO case_revision (tenant_id, catalog_id, case_id, revision, state, reading_id, decision_id)
SELECT *, %(decision_id)s FROM again;

-- name: raise_revisions
-- What an open case rests on has changed: an answer to the old picture must not count.
WITH raised AS (
    UPDATE review_case c SET revision = revision + 1
    WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.state = 'open'
      AND c.case_id IN (
          SELECT r.case_id FROM case_ref r
          WHERE r.tenant_id = %(tenant_id)s AND r.catalog_id = %(catalog_id)s AND r.type IN ('item', 'listing', 'key')
            AND r.id = ANY(%(ids)s))
    RETURNING c.tenant_id, c.catalog_id, c.case_id, c.revision, c.state, c.reading_id)
INSERT INTO case_revision (tenant_id, catalog_id, case_id, revision, state, reading_id, decision_id)
SELECT *, %(decision_id)s FROM raised;

-- name: open_reasons
-- Why a listing's cases are open.
SELECT kind, reason FROM review_case
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND subject = %(subject)s AND state = 'open';

-- name: revisions_after
-- What raised a case's revision since somebody looked: the decisions, with what they changed of what the case rests on.
SELECT v.revision, v.state, v.reading_id, d.decision_id, d.action, d.actor, d.rationale, d.decided_at,
       c.aggregate, c.id, c.revision, c.type, c.position
FROM case_revision v
LEFT JOIN decision d ON (d.tenant_id, d.catalog_id, d.decision_id) = (v.tenant_id, v.catalog_id, v.decision_id)
LEFT JOIN change c ON (c.tenant_id, c.catalog_id, c.decision_id) = (d.tenant_id, d.catalog_id, d.decision_id)
    AND split_part(c.id, '/', 1) IN (
        SELECT r.id FROM case_ref r
        WHERE (r.tenant_id, r.catalog_id, r.case_id) = (v.tenant_id, v.catalog_id, v.case_id))
WHERE v.tenant_id = %(tenant_id)s AND v.catalog_id = %(catalog_id)s AND v.case_id = %(case_id)s
  AND v.revision > %(after)s
ORDER BY v.revision, c.position
LIMIT 500;

-- name: find_case
-- One case as it stands.
SELECT case_id, kind, subject, reading_id, reason, state, revision, decision_id, opened_at, closed_at
FROM review_case
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND case_id = %(case_id)s;

-- name: list_cases
-- A page of cases, oldest first.
SELECT case_id, kind, subject, reading_id, reason, state, revision, decision_id, opened_at, closed_at
FROM review_case
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND state = %(state)s AND case_id > %(after)s
ORDER BY case_id LIMIT %(limit)s;

-- name: refs_of_case
-- What a case rests on.
SELECT type, id FROM case_ref
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND case_id = %(case_id)s
ORDER BY type, id;

-- name: drop_candidates
-- Scores of an older look at the same reading.
DELETE FROM candidate
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND reading_id = %(reading_id)s;

-- name: insert_candidate
-- An item that the reading resembles, and how much.
INSERT INTO candidate (tenant_id, catalog_id, reading_id, item_id, score, features, model)
VALUES (%(tenant_id)s, %(catalog_id)s, %(reading_id)s, %(item_id)s, %(score)s, %(features)s, %(model)s);

-- name: candidates_of
-- The items that a reading resembles, best first.
SELECT item_id, score, features, model FROM candidate
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND reading_id = %(reading_id)s
ORDER BY score::numeric DESC, item_id;

-- name: open_cases_of
-- What is open about a listing.
SELECT case_id FROM review_case
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND subject = %(subject)s AND state = 'open'
ORDER BY case_id;

-- name: case_states
-- How some cases stand.
SELECT case_id, state FROM review_case
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND case_id = ANY(%(cases)s);

-- name: asked_readings
-- What a listing's open cases are about, by kind.
SELECT kind, reading_id FROM review_case
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND subject = %(subject)s AND state = 'open';

-- name: ever_asked_readings
-- What a listing's cases were ever about.
SELECT DISTINCT v.reading_id FROM review_case c
JOIN case_revision v ON (v.tenant_id, v.catalog_id, v.case_id) = (c.tenant_id, c.catalog_id, c.case_id)
WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.subject = %(subject)s;
