-- name: find_decision
-- The first result of a request, which every retry gets.
SELECT decision_id, action, basis FROM decision
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND request_id = %(request_id)s;

-- name: insert_decision
-- Immutable: who decided what, why, and on which revisions and versions.
INSERT INTO decision (tenant_id, catalog_id, decision_id, history_epoch, request_id, action, actor, rationale,
                      basis, evidence, prior, undoes, decided_at)
VALUES (%(tenant_id)s, %(catalog_id)s, %(decision_id)s, %(history_epoch)s, %(request_id)s, %(action)s, %(actor)s,
        %(rationale)s, %(basis)s, %(evidence)s, %(prior)s, %(undoes)s,
        %(decided_at)s);

-- name: insert_change
-- One revision of one aggregate, at its position.
INSERT INTO change (tenant_id, catalog_id, aggregate, id, revision, decision_id, event_id, history_epoch, position,
                    type, data)
VALUES (%(tenant_id)s, %(catalog_id)s, %(aggregate)s, %(id)s, %(revision)s, %(decision_id)s, %(event_id)s,
        %(history_epoch)s, %(position)s, %(type)s, %(data)s);

-- name: insert_support
-- A fact that the change rests on.
INSERT INTO support (tenant_id, catalog_id, aggregate, id, revision, reading_id, n)
VALUES (%(tenant_id)s, %(catalog_id)s, %(aggregate)s, %(id)s, %(revision)s, %(reading_id)s, %(n)s);

-- name: insert_outbox
-- The event as Kafka will get it, in the decision's own transaction.
INSERT INTO outbox (tenant_id, catalog_id, history_epoch, position, event_id, value)
VALUES (%(tenant_id)s, %(catalog_id)s, %(history_epoch)s, %(position)s, %(event_id)s, %(value)b);

-- name: changes_of
-- What a decision changed, in the order of its events.
SELECT aggregate, id, revision, type, position FROM change
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND decision_id = %(decision_id)s
ORDER BY position;

-- name: show_decision
-- One decision.
SELECT decision_id, action, actor, rationale, basis, evidence, prior, undoes, decided_at FROM decision
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND decision_id = %(decision_id)s;

-- name: decisions_undoing
-- What undid a decision, the latest last.
SELECT decision_id FROM decision
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND undoes = %(decision_id)s
ORDER BY decision_id COLLATE "C";

-- name: list_decisions
-- A page of a catalog's decisions, newest first.
SELECT decision_id, action, actor, rationale, undoes, decided_at FROM decision
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s
  AND (%(before)s::text IS NULL OR decision_id < %(before)s)
ORDER BY decision_id DESC LIMIT %(limit)s;

-- name: decisions_about
-- Those decisions that changed one item or listing, or a value of its own.
SELECT decision_id, action, actor, rationale, undoes, decided_at FROM decision d
WHERE d.tenant_id = %(tenant_id)s AND d.catalog_id = %(catalog_id)s
  AND (%(before)s::text IS NULL OR d.decision_id < %(before)s)
  AND d.decision_id IN (
      SELECT c.decision_id FROM change c
      WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s
        AND c.aggregate IN ('item', 'mapping') AND c.id = %(about)s
      UNION ALL
      SELECT c.decision_id FROM attribute a
      JOIN change c ON c.tenant_id = a.tenant_id AND c.catalog_id = a.catalog_id AND c.aggregate = 'attribute'
          AND c.id = a.attribute_id
      WHERE a.tenant_id = %(tenant_id)s AND a.catalog_id = %(catalog_id)s
        AND a.owner_type IN ('item', 'listing') AND a.owner_id = %(about)s)
ORDER BY d.decision_id DESC LIMIT %(limit)s;

-- name: changes_after
-- What happened to one aggregate after a revision, and by which decision.
SELECT c.revision, c.type, c.data, c.position, d.decision_id, d.action, d.actor, d.rationale, d.decided_at
FROM change c JOIN decision d USING (tenant_id, catalog_id, decision_id)
WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.aggregate = %(aggregate)s AND c.id = %(id)s
  AND c.revision > %(after)s
ORDER BY c.revision
LIMIT 500;

-- name: guarded_before
-- Of a decision's changes to some attributes of items: the value now, what it said, and what the revision before said.
SELECT a.owner_id, a.name, a.value, c.data, b.data FROM change c
JOIN attribute a ON a.tenant_id = c.tenant_id AND a.catalog_id = c.catalog_id AND a.attribute_id = c.id
JOIN change b ON b.tenant_id = c.tenant_id AND b.catalog_id = c.catalog_id AND b.aggregate = c.aggregate
    AND b.id = c.id AND b.revision = c.revision - 1
WHERE c.tenant_id = %(tenant_id)s AND c.catalog_id = %(catalog_id)s AND c.decision_id = %(decision_id)s
  AND c.aggregate = 'attribute' AND a.owner_type = 'item' AND a.name = ANY(%(names)s);
