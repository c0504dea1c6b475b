-- name: find_key
-- A key by its id, whatever tenant it is of: the one question that is asked before the tenant is known.
SELECT tenant_id, mac, scopes, revoked_at FROM api_key_by_id(%(key_id)s);
