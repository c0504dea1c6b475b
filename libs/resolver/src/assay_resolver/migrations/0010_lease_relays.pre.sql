-- A relay's leases stand or fall together: one row per relay process carries the expiry, its buckets name it.
-- Burying an expired owner frees its buckets in the same transaction. One row per heartbeat, whatever a relay holds.
CREATE TABLE relay_owner (
    owner text PRIMARY KEY,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);
ALTER TABLE relay_bucket
    DROP COLUMN expires_at,
    ADD CONSTRAINT relay_bucket_owner_fk FOREIGN KEY (owner) REFERENCES relay_owner ON DELETE SET NULL;
CREATE INDEX relay_bucket_by_owner ON relay_bucket (owner);

-- The outbox id of the event at `published`: within a stream ids rise with positions, so that a read skips old partitions.
ALTER TABLE relay_stream ADD COLUMN published_id bigint NOT NULL DEFAULT 0;

-- The sweepers' claims: until then one of them is at the row, and the others leave it alone.
ALTER TABLE job ADD COLUMN sweep_until timestamptz;
ALTER TABLE dead_letter ADD COLUMN sweep_until timestamptz;
DROP INDEX job_in_flight;
CREATE INDEX job_in_flight ON job (stage, sent_topic_id, sent_partition, sent_offset)
    WHERE state = 'open' AND sent_offset IS NOT NULL;

GRANT SELECT ON relay_owner TO assay_checker;
GRANT SELECT, INSERT, DELETE ON relay_owner TO assay_relay_events;
GRANT UPDATE (expires_at) ON relay_owner TO assay_relay_events;
GRANT UPDATE (published_id) ON relay_stream TO assay_relay_events;
GRANT SELECT ON SEQUENCE outbox_id_seq TO assay_relay_events;
GRANT UPDATE (sweep_until) ON job, dead_letter TO assay_relay_jobs;
