-- name: find_decision
-- The first result of a request, which every retry gets.
SELECT decision_id, action, basis FROM decision
WHERE tenant_id = %(tenant_id)s AND catalog_id = %(catalog_id)s AND request_id = %(request_id)s;

-- name: insert_decision
-- Immutable: who decided what, why, and on which revisions and versions.
INSERT INTO decision (tenant_id, catalog_id, decision_id, history_epoch, request_id, action, actor, rationale,
                      basis, evidence, prior, decided_at)
VALUES (%(tenant_id)s, %(catalog_id)s, %(decision_id)s, %(history_epoch)s, %(request_id)s, %(action)s, %(actor)s,
        %(rationale)s, %(basis)s, %(evidence)s, %(prior)s, %(decided_at)s);

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
