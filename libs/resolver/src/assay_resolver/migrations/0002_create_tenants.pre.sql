-- Who may ask, and what they own. Rows are made by the operator's command, read by every service.
CREATE TABLE tenant (
    tenant_id text PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT tenant_id_shape CHECK (tenant_id ~ '^ten_[a-z0-9_]{1,60}$')
);

CREATE TABLE catalog (
    tenant_id text NOT NULL REFERENCES tenant,
    catalog_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, catalog_id),
    CONSTRAINT catalog_id_shape CHECK (catalog_id ~ '^cat_[a-z0-9_]{1,60}$')
);

-- A key is found by its id through api_key_by_id; only its keyed hash is stored.
CREATE TABLE api_key (
    tenant_id text NOT NULL REFERENCES tenant,
    key_id text NOT NULL,
    mac bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, key_id),
    CONSTRAINT api_key_id_once UNIQUE (key_id),
    CONSTRAINT api_key_mac_is_sha256 CHECK (length(mac) = 32)
);

-- trust orders sources where their values differ: higher wins, 0 to 100.
CREATE TABLE source (
    tenant_id text NOT NULL REFERENCES tenant,
    source_id text NOT NULL,
    trust smallint NOT NULL DEFAULT 50,
    PRIMARY KEY (tenant_id, source_id),
    CONSTRAINT source_id_shape CHECK (source_id ~ '^src_[a-z0-9_]{1,60}$'),
    CONSTRAINT source_trust_range CHECK (trust BETWEEN 0 AND 100)
);

-- The incarnations of this history, in order. A restore closes one and opens the next; only an open one takes effect.
CREATE TABLE history_epoch (
    ordinal integer PRIMARY KEY,
    name text NOT NULL,
    state text NOT NULL,
    CONSTRAINT history_epoch_name_once UNIQUE (name),
    CONSTRAINT history_epoch_state_known CHECK (state IN ('open', 'closed')),
    CONSTRAINT history_epoch_name_bounded CHECK (length(name) BETWEEN 1 AND 64)
);
CREATE UNIQUE INDEX history_epoch_one_open ON history_epoch (state) WHERE state = 'open';
INSERT INTO history_epoch (ordinal, name, state) VALUES (1, 'history-1', 'open');

CREATE FUNCTION api_key_by_id(wanted text)
RETURNS TABLE (tenant_id text, mac bytea, scopes text[], revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
AS $$ SELECT k.tenant_id, k.mac, k.scopes, k.revoked_at FROM public.api_key k WHERE k.key_id = wanted $$;
REVOKE ALL ON FUNCTION api_key_by_id(text) FROM PUBLIC;
