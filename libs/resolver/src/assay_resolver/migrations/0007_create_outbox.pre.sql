-- ⑥ events on their way to Kafka. Ranges of ids, so that old ones go by dropping a partition; no published column:
-- how far a stream is published stands in relay_stream, so that marking writes one small row.
CREATE TABLE outbox (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    history_epoch text NOT NULL,
    position bigint NOT NULL,
    event_id uuid NOT NULL,
    value bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX outbox_stream ON outbox (tenant_id, catalog_id, history_epoch, position);

-- Partitions hold a million ids each and are made ahead; there is no default partition, which would forbid detaching concurrently.
CREATE FUNCTION outbox_add_partitions(ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
    width constant bigint := 1000000;
    first bigint := (SELECT COALESCE(last_value, 0) FROM public.outbox_id_seq) / width;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('outbox_add_partitions'));
    FOR slot IN first .. first + ahead LOOP
        IF to_regclass(format('public.outbox_%s', slot)) IS NULL THEN
            EXECUTE format('CREATE TABLE public.outbox_%s PARTITION OF public.outbox FOR VALUES FROM (%s) TO (%s)',
                           slot, slot * width, (slot + 1) * width);
            EXECUTE format('ALTER TABLE public.outbox_%s SET (autovacuum_freeze_max_age = 1000000000)', slot);
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;
REVOKE ALL ON FUNCTION outbox_add_partitions(integer) FROM PUBLIC;
SELECT outbox_add_partitions(3);

-- The relay's own rows: never the cursor rows that writers lock. A stream's bucket is stored when it is first seen.
CREATE TABLE relay_stream (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    history_epoch text NOT NULL,
    bucket smallint NOT NULL,
    published bigint NOT NULL DEFAULT 0,
    held text,
    PRIMARY KEY (tenant_id, catalog_id, history_epoch),
    FOREIGN KEY (tenant_id, catalog_id, history_epoch) REFERENCES cursor
) WITH (fillfactor = 50);
CREATE INDEX relay_stream_by_bucket ON relay_stream (bucket);

CREATE TABLE relay_bucket (
    bucket smallint PRIMARY KEY,
    owner text,
    lease_epoch bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
INSERT INTO relay_bucket (bucket) SELECT generate_series(0, 63);
