-- name: open_case
-- One open case per kind and subject: a newer reading changes the standing one and raises its revision.
INSERT INTO review_case (tenant_id, catalog_id, case_id, kind, subject, reading_id, reason, opened_at)
VALUES (%(tenant_id)s, %(catalog_id)s, %(case_id)s, %(kind)s, %(subject)s, %(reading_id)s, %(reason)s, %(opened_at)s)
ON CONFLICT (tenant_id, catalog_id, kind, subject) WHERE state = 'open' DO UPDATE
SET reading_id = EXCLUDED.reading_id, reason = EXCLUDED.reason, revision = review_case.revision + 1
RETURNING case_id;

-- name: drop_refs
-- A case rests anew on what its latest reading met.
DELETE FROM case_ref WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND case_id = %(case_id)s;

-- name: insert_ref
-- Something that the case rests on: when it changes, the case's revision rises.
INSERT INTO case_ref (tenant_id, catalog_id, case_id, type, id)
VALUES (%(tenant_id)s, %(catalog_id)s, %(case_id)s, %(type)s, %(id)s)
ON CONFLICT DO NOTHING;

-- name: decide_case
-- The reviewer's answer counts only at the revision that was looked at.
UPDATE review_case SET revision = revision + 1, state = 'decided', decision_id = %(decision_id)s, closed_at = %(at)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND case_id = %(case_id)s
  AND revision = %(expected)s AND state = 'open';

-- name: withdraw_cases
-- The question is gone: the listing found its place otherwise.
UPDATE review_case SET revision = revision + 1, state = 'withdrawn', closed_at = %(at)s
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND subject = %(subject)s AND state = 'open'
  AND kind = ANY(%(kinds)s);

-- name: raise_revisions
-- What an open case rests on has changed: an answer to the old picture must not count.
UPDATE review_case c SET revision = revision + 1
WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.state = 'open'
  AND EXISTS (
      SELECT FROM case_ref r
      WHERE (r.tenant_id, r.catalog_id, r.case_id) = (c.tenant_id, c.catalog_id, c.case_id)
        AND r.id = ANY(%(ids)s));

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
