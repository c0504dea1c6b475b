-- name: list_keys
-- What a database takes of its callers.
SELECT key_id, tenant_id, mac, scopes, revoked_at IS NULL FROM api_key;

-- name: find_keys
-- Some keys, and whether they were revoked longer ago than a minute.
SELECT key_id, tenant_id, mac, scopes, COALESCE(revoked_at < clock_timestamp() - interval '1 minute', false)
FROM api_key WHERE key_id = ANY(%(keys)s::text[]);
