-- name: find_key
-- A tenant's key by its id, whatever tenant it is of: the one question that is asked before the tenant is known.
SELECT tenant_id, mac, scopes, revoked_at FROM api_key_by_id(%(key_id)s);

-- name: find_service_key
-- A program's key by its id.
SELECT mac, scopes, revoked_at FROM service_key WHERE key_id = %(key_id)s;
