-- ③ the resolution job: what must be done, whether Kafka knows of it or not.
-- sent_*: where it was enqueued last; null means the sweeper owes it a send. started_at without a later ended_at: a start that died.
CREATE TABLE job (
    tenant_id text NOT NULL,
    job_id text NOT NULL,
    capture_id text NOT NULL,
    stage text NOT NULL,
    attempt_group integer NOT NULL,
    history_epoch text NOT NULL REFERENCES history_epoch (name),
    envelope_id uuid NOT NULL,
    envelope_ts bigint NOT NULL,
    payload bytea NOT NULL,
    state text NOT NULL DEFAULT 'open',
    outcome text,
    cause text,
    attempt integer NOT NULL DEFAULT 1,
    due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at timestamptz,
    ended_at timestamptz,
    started_alone boolean NOT NULL DEFAULT false,
    deaths smallint NOT NULL DEFAULT 0,
    sent_topic_id uuid,
    sent_partition integer,
    sent_offset bigint,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, capture_id) REFERENCES capture,
    CONSTRAINT job_once_per_stage_and_group UNIQUE (tenant_id, capture_id, stage, attempt_group),
    CONSTRAINT job_names_its_work CHECK (job_id = capture_id || ':' || stage || ':' || attempt_group),
    CONSTRAINT job_state_known CHECK (state IN ('open', 'done', 'dead', 'superseded')),
    CONSTRAINT job_stage_known CHECK (stage IN ('extract', 'normalize', 'identity', 'llm_extract', 'llm_review')),
    CONSTRAINT job_attempt_from_one CHECK (attempt >= 1),
    CONSTRAINT job_done_has_outcome CHECK ((state = 'done') = (outcome IS NOT NULL)),
    CONSTRAINT job_dead_has_cause CHECK (state <> 'dead' OR cause IS NOT NULL),
    CONSTRAINT job_sent_whole CHECK (num_nulls(sent_topic_id, sent_partition, sent_offset) IN (0, 3))
) WITH (fillfactor = 70);
CREATE INDEX job_unsent ON job (due_at) WHERE state = 'open' AND sent_offset IS NULL;
CREATE INDEX job_in_flight ON job (sent_topic_id, sent_partition, sent_offset)
    WHERE state = 'open' AND sent_offset IS NOT NULL;

-- A row says that the job's result is committed. The key holds no attempt, so no two attempts can both take effect. Never pruned.
CREATE TABLE inbox (
    tenant_id text NOT NULL,
    job_id text NOT NULL,
    done_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job
);

-- Given up on, kept whole with its cause; the row comes before the offset, the sweeper copies it to the .dlq topic after.
-- tenant_id is null where nothing readable named one: only operators see such a row.
CREATE TABLE dead_letter (
    topic_id uuid NOT NULL,
    partition integer NOT NULL,
    "offset" bigint NOT NULL,
    topic text NOT NULL,
    tenant_id text,
    job_id text,
    stage text,
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
