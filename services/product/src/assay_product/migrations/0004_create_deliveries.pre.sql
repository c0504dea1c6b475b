-- Where apply stands in Kafka, moved in the transaction that took the effect: the truth, of which the group's committed
-- offset is a copy. The topic's id is in the key, so a topic made anew under the old name is read from its beginning.
CREATE TABLE kafka_offset (
    topic_id uuid NOT NULL,
    partition integer NOT NULL,
    next_offset bigint NOT NULL,
    PRIMARY KEY (topic_id, partition),
    CONSTRAINT kafka_offset_not_negative CHECK (next_offset >= 0)
) WITH (fillfactor = 50);

-- Given up on, kept whole with its cause; the row comes before the offset, a sweep copies it to the .dlq topic after.
-- tenant_id is null where nothing readable named one: only operators see such a row.
CREATE TABLE dead_letter (
    topic_id uuid NOT NULL,
    partition integer NOT NULL,
    "offset" bigint NOT NULL,
    topic text NOT NULL,
    tenant_id text,
    reason text NOT NULL,
    cause text NOT NULL,
    key bytea,
    value bytea,
    headers text NOT NULL,
    published_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (topic_id, partition, "offset"),
    CONSTRAINT dead_letter_headers_are_json CHECK (headers IS JSON ARRAY)
);
CREATE INDEX dead_letter_unpublished ON dead_letter (created_at) WHERE published_at IS NULL;
CREATE INDEX dead_letter_by_tenant ON dead_letter (tenant_id, created_at);
