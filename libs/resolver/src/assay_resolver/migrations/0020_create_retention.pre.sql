-- What may leave the outbox, and who keeps it there. Every act that reads or moves these rows to decide about pruning
-- locks the one row of retention_control first; then consumer, progress, lease and floor rows, each kind sorted.
DO $$
DECLARE
    role_name text;
    setting text[];
BEGIN
    FOREACH role_name IN ARRAY ARRAY['assay_relay_prune', 'assay_relay_api'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
        FOREACH setting SLICE 1 IN ARRAY ARRAY[
            ['transaction_timeout', '10s'], ['idle_in_transaction_session_timeout', '5s'], ['lock_timeout', '8s']
        ] LOOP
            BEGIN
                EXECUTE format('ALTER ROLE %I SET %I = %L', role_name, setting[1], setting[2]);
            -- Roles belong to the whole server: another database's migration is writing the same value right now.
            EXCEPTION WHEN internal_error THEN NULL;
            END;
        END LOOP;
    END LOOP;
    BEGIN
        -- Whoever detaches a partition concurrently must own it, and a function cannot do it: pruning owns the outbox.
        GRANT assay_relay_prune TO CURRENT_USER WITH INHERIT TRUE, SET TRUE;
    EXCEPTION WHEN internal_error OR unique_violation THEN NULL;
    END;
END
$$;
GRANT USAGE ON SCHEMA public TO assay_relay_prune, assay_relay_api;
GRANT CREATE ON SCHEMA public TO assay_relay_prune;

CREATE TABLE retention_control (
    only_row boolean PRIMARY KEY DEFAULT true,
    raised_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT retention_control_is_one_row CHECK (only_row)
);
INSERT INTO retention_control DEFAULT VALUES;

-- Keys of our own programs, which may speak of every tenant by naming it in the path. Only the keyed hash is stored.
CREATE TABLE service_key (
    name text PRIMARY KEY,
    key_id text NOT NULL,
    mac bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz,
    CONSTRAINT service_key_id_once UNIQUE (key_id),
    CONSTRAINT service_key_mac_is_sha256 CHECK (length(mac) = 32)
);

-- Who reads the history and says how far. A live one holds back pruning; a shadow one only by leases of its own.
CREATE TABLE consumer (
    name text PRIMARY KEY,
    kind text NOT NULL,
    every_stream boolean NOT NULL,
    registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    registered_by text NOT NULL,
    reported_at timestamptz,
    CONSTRAINT consumer_name_shape CHECK (name ~ '^[a-z][a-z0-9_.-]{0,62}$'),
    CONSTRAINT consumer_kind_known CHECK (kind IN ('live', 'shadow'))
);

-- The catalogs of a consumer that does not read all of them.
CREATE TABLE consumer_stream (
    name text NOT NULL REFERENCES consumer ON DELETE CASCADE,
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    PRIMARY KEY (name, tenant_id, catalog_id),
    FOREIGN KEY (tenant_id, catalog_id) REFERENCES catalog
);

-- How far a consumer has durably come. No row: it stands at the floor of the moment at which it was registered, and so
-- at the floor of now, because pruning cannot pass it.
CREATE TABLE consumer_progress (
    name text NOT NULL REFERENCES consumer ON DELETE CASCADE,
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    history_epoch text NOT NULL,
    position bigint NOT NULL,
    moved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, tenant_id, catalog_id, history_epoch),
    FOREIGN KEY (tenant_id, catalog_id, history_epoch) REFERENCES cursor,
    CONSTRAINT consumer_progress_not_negative CHECK (position >= 0)
) WITH (fillfactor = 50);
CREATE INDEX consumer_progress_by_stream ON consumer_progress (tenant_id, catalog_id, history_epoch);

-- A promise that nothing above `position` goes before `expires_at`. One that has expired promises nothing, for good.
CREATE TABLE retention_lease (
    lease_id text PRIMARY KEY,
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    history_epoch text NOT NULL,
    position bigint NOT NULL,
    purpose text NOT NULL,
    held_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, catalog_id, history_epoch) REFERENCES cursor,
    CONSTRAINT retention_lease_position_not_negative CHECK (position >= 0),
    CONSTRAINT retention_lease_purpose_bounded CHECK (length(purpose) BETWEEN 1 AND 200)
) WITH (fillfactor = 50);
CREATE INDEX retention_lease_by_stream ON retention_lease (tenant_id, catalog_id, history_epoch, position);

-- What is gone: 1..pruned_through of a stream, whose running digest there is kept so that a reader can prove the rest.
-- No row: nothing is gone. released_by: somebody said by an explicit act that no consumer needs this stream any more.
CREATE TABLE stream_floor (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    history_epoch text NOT NULL,
    pruned_through bigint NOT NULL DEFAULT 0,
    digest bytea NOT NULL DEFAULT '\x0000000000000000000000000000000000000000000000000000000000000000',
    raised_at timestamptz,
    released_by text,
    PRIMARY KEY (tenant_id, catalog_id, history_epoch),
    FOREIGN KEY (tenant_id, catalog_id, history_epoch) REFERENCES cursor,
    CONSTRAINT stream_floor_not_negative CHECK (pruned_through >= 0),
    CONSTRAINT stream_floor_digest_is_sha256 CHECK (length(digest) = 32)
) WITH (fillfactor = 50);

CREATE FUNCTION floor_never_sinks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.pruned_through < OLD.pruned_through THEN
        RAISE EXCEPTION 'the floor of % % % would sink', NEW.tenant_id, NEW.catalog_id, NEW.history_epoch
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'stream_floor_rises';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER stream_floor_rises BEFORE UPDATE ON stream_floor FOR EACH ROW EXECUTE FUNCTION floor_never_sinks();

-- Rows of laggards, copied before their partition is dropped, so that one of them does not hold everybody's disk.
CREATE TABLE outbox_kept (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    history_epoch text NOT NULL,
    position bigint NOT NULL,
    id bigint NOT NULL,
    event_id uuid NOT NULL,
    value bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, history_epoch, position)
);

-- Every explicit act on retention, for whoever asks later why something is gone.
CREATE TABLE retention_act (
    act_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL,
    act text NOT NULL,
    subject text NOT NULL,
    because text NOT NULL
);
CREATE TRIGGER retention_act_is_immutable BEFORE UPDATE OR DELETE ON retention_act
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_history();

-- A request speaks of one tenant; a service key's list of all streams comes from here and shows names and numbers only.
CREATE FUNCTION every_stream_after(after_tenant text, after_catalog text, after_epoch text, most integer)
RETURNS TABLE (tenant_id text, catalog_id text, history_epoch text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
AS $$
    SELECT c.tenant_id, c.catalog_id, c.history_epoch FROM public.cursor c
    WHERE (c.tenant_id, c.catalog_id, c.history_epoch) > (after_tenant, after_catalog, after_epoch)
    ORDER BY c.tenant_id, c.catalog_id, c.history_epoch LIMIT most
$$;
REVOKE ALL ON FUNCTION every_stream_after(text, text, text, integer) FROM PUBLIC;
CREATE FUNCTION every_raised_floor()
RETURNS TABLE (tenant_id text, catalog_id text, history_epoch text, pruned_through bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
AS $$
    SELECT f.tenant_id, f.catalog_id, f.history_epoch, f.pruned_through FROM public.stream_floor f
    WHERE f.pruned_through > 0 ORDER BY 1, 2, 3
$$;
REVOKE ALL ON FUNCTION every_raised_floor() FROM PUBLIC;
CREATE POLICY by_stream_name ON cursor FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY by_stream_name ON stream_floor FOR SELECT TO CURRENT_USER USING (true);

ALTER TABLE outbox OWNER TO assay_relay_prune;
DO $$
DECLARE
    table_name text;
BEGIN
    FOR table_name IN SELECT c.relname FROM pg_class c WHERE c.relispartition AND c.relkind = 'r'
        AND c.relnamespace = 'public'::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %I OWNER TO assay_relay_prune', table_name);
    END LOOP;
    FOREACH table_name IN ARRAY ARRAY['consumer_stream', 'consumer_progress', 'retention_lease', 'stream_floor', 'outbox_kept']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
        EXECUTE format($policy$CREATE POLICY own_tenant ON %I TO assay_intake
            USING (tenant_id = current_setting('assay.tenant_id', true))$policy$, table_name);
        EXECUTE format('CREATE POLICY every_tenant ON %I TO assay_operator USING (true)', table_name);
    END LOOP;
    FOR table_name IN SELECT p.tablename FROM pg_policies p WHERE p.schemaname = 'public' AND p.policyname = 'own_tenant'
    LOOP
        EXECUTE format('ALTER POLICY own_tenant ON %I TO assay_intake, assay_resolver_api, assay_relay_api', table_name);
        EXECUTE format('ALTER POLICY every_tenant ON %I TO assay_operator, assay_stages, assay_relay_events,
            assay_relay_jobs, assay_relay_prune, assay_checker', table_name);
    END LOOP;
END
$$;
ALTER FUNCTION outbox_add_partitions(integer) OWNER TO assay_relay_prune;

GRANT SELECT ON retention_control, service_key, consumer, consumer_stream, consumer_progress, retention_lease,
    stream_floor, outbox_kept, retention_act TO assay_checker;
GRANT SELECT, INSERT ON service_key TO assay_operator;
GRANT UPDATE (key_id, mac, scopes, revoked_at) ON service_key TO assay_operator;

GRANT SELECT ON outbox_kept TO assay_relay_events;

GRANT SELECT ON retention_control, consumer, consumer_stream, consumer_progress, retention_lease, stream_floor,
    cursor, relay_stream, history_epoch TO assay_relay_prune;
GRANT UPDATE (raised_at) ON retention_control TO assay_relay_prune;
GRANT INSERT, UPDATE (pruned_through, digest, raised_at) ON stream_floor TO assay_relay_prune;
GRANT DELETE ON retention_lease TO assay_relay_prune;
GRANT SELECT, INSERT, DELETE ON outbox_kept TO assay_relay_prune;

GRANT SELECT ON retention_control, service_key, consumer, consumer_stream, consumer_progress, retention_lease,
    stream_floor, outbox, outbox_kept, cursor, relay_stream, history_epoch, catalog, change, decision, item, mapping,
    attribute TO assay_relay_api;
-- Row locks need an update right: who registers, reports or leases locks the control row and changes nothing in it.
GRANT UPDATE (raised_at) ON retention_control TO assay_relay_api;
GRANT INSERT, DELETE ON consumer TO assay_relay_api;
GRANT UPDATE (reported_at) ON consumer TO assay_relay_api;
GRANT INSERT ON consumer_stream, retention_act TO assay_relay_api;
GRANT INSERT, UPDATE (position, moved_at) ON consumer_progress TO assay_relay_api;
GRANT INSERT, DELETE, UPDATE (position, expires_at) ON retention_lease TO assay_relay_api;
GRANT INSERT, UPDATE (released_by) ON stream_floor TO assay_relay_api;
GRANT EXECUTE ON FUNCTION api_key_by_id(text), every_stream_after(text, text, text, integer), every_raised_floor()
    TO assay_relay_api;
