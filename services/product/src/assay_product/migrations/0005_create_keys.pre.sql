-- A key is found by its id through api_key_by_id; only its keyed hash is stored. The operator's command writes here what
-- it writes to the resolver database: the product's API asks nobody.
CREATE TABLE api_key (
    tenant_id text NOT NULL,
    key_id text NOT NULL,
    mac bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, key_id),
    CONSTRAINT api_key_id_once UNIQUE (key_id),
    CONSTRAINT api_key_mac_is_sha256 CHECK (length(mac) = 32)
);

CREATE FUNCTION api_key_by_id(wanted text)
RETURNS TABLE (tenant_id text, mac bytea, scopes text[], revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
AS $$ SELECT k.tenant_id, k.mac, k.scopes, k.revoked_at FROM public.api_key k WHERE k.key_id = wanted $$;
REVOKE ALL ON FUNCTION api_key_by_id(text) FROM PUBLIC;
