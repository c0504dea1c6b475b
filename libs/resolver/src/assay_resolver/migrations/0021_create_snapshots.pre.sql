-- Snapshots of accepted facts: an immutable object in the bucket per stream and position, served by range and never
-- removed in this release. digest: the stream's running digest at the position. A genesis snapshot (position 0) is what
-- a new epoch begins with.
CREATE TABLE snapshot (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    history_epoch text NOT NULL,
    position bigint NOT NULL,
    digest bytea NOT NULL,
    sha256 text NOT NULL,
    bytes bigint NOT NULL,
    facts bigint NOT NULL,
    is_genesis boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, catalog_id, history_epoch, position),
    FOREIGN KEY (tenant_id, catalog_id, history_epoch) REFERENCES cursor,
    CONSTRAINT snapshot_position_not_negative CHECK (position >= 0),
    CONSTRAINT snapshot_digest_is_sha256 CHECK (length(digest) = 32),
    CONSTRAINT snapshot_sha256_shape CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    CONSTRAINT snapshot_genesis_is_at_zero CHECK (NOT is_genesis OR position = 0)
);
ALTER TABLE snapshot ENABLE ROW LEVEL SECURITY;
ALTER TABLE snapshot FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON snapshot TO assay_intake, assay_resolver_api, assay_relay_api
    USING (tenant_id = current_setting('assay.tenant_id', true));
CREATE POLICY every_tenant ON snapshot TO assay_operator, assay_stages, assay_relay_events, assay_relay_jobs,
    assay_relay_prune, assay_checker USING (true);
CREATE TRIGGER snapshot_is_immutable BEFORE UPDATE OR DELETE ON snapshot
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_history();

GRANT SELECT ON snapshot TO assay_checker;
GRANT SELECT, INSERT ON snapshot TO assay_relay_api;
