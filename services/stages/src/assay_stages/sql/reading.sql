-- name: insert_reading
-- One product in one capture.
INSERT INTO reading (tenant_id, catalog_id, reading_id, capture_id, attempt_group, node, key, group_key, profile, digest)
VALUES (%(tenant_id)s, %(catalog_id)s, %(reading_id)s, %(capture_id)s, %(attempt_group)s, %(node)s, %(key)s,
        %(group_key)s, %(profile)s, %(digest)s);

-- name: insert_fact
-- One statement of a reading, in its order.
INSERT INTO fact (tenant_id, catalog_id, reading_id, n, capture_id, attempt_group, sha256, adapter, name, line, raw,
                  value, problem, place_syntax, place)
VALUES (%(tenant_id)s, %(catalog_id)s, %(reading_id)s, %(n)s, %(capture_id)s, %(attempt_group)s, %(sha256)s,
        %(adapter)s, %(name)s, %(line)s, %(raw)s, %(value)s, %(problem)s, %(place_syntax)s, %(place)s);
