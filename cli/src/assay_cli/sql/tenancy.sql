-- name: ensure_tenant
-- A tenant is made once.
INSERT INTO tenant (tenant_id) VALUES (%(tenant_id)s) ON CONFLICT DO NOTHING;

-- name: ensure_catalog
-- A catalog of the tenant.
INSERT INTO catalog (tenant_id, catalog_id) VALUES (%(tenant_id)s, %(catalog_id)s) ON CONFLICT DO NOTHING;

-- name: ensure_source
-- A source that captures of the tenant may name.
INSERT INTO source (tenant_id, source_id) VALUES (%(tenant_id)s, %(source_id)s) ON CONFLICT DO NOTHING;

-- name: insert_key
-- Only a keyed hash of an API key is stored.
INSERT INTO api_key (tenant_id, key_id, mac, scopes) VALUES (%(tenant_id)s, %(key_id)s, %(mac)s, %(scopes)s);

-- name: list_service_keys
-- Which of our programs have a key.
SELECT name FROM service_key;

-- name: put_service_key
-- A program's key; a new one takes the place of one whose text was lost.
INSERT INTO service_key (name, key_id, mac, scopes) VALUES (%(name)s, %(key_id)s, %(mac)s, %(scopes)s)
ON CONFLICT (name) DO UPDATE
SET key_id = EXCLUDED.key_id, mac = EXCLUDED.mac, scopes = EXCLUDED.scopes, revoked_at = NULL;
