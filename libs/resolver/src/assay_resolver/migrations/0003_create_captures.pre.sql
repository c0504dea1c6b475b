-- ① evidence, capture, artifact, ② receipt: written by intake in one transaction (and by a person's statement).
CREATE TABLE evidence (
    tenant_id text NOT NULL REFERENCES tenant,
    sha256 text NOT NULL,
    bytes bigint NOT NULL,
    media_type text NOT NULL,
    state text NOT NULL DEFAULT 'pending',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, sha256),
    CONSTRAINT evidence_sha256_shape CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    CONSTRAINT evidence_state_known CHECK (state IN ('pending', 'stored')),
    CONSTRAINT evidence_bytes_not_negative CHECK (bytes >= 0)
);

CREATE TABLE capture (
    tenant_id text NOT NULL,
    capture_id text NOT NULL,
    catalog_id text NOT NULL,
    source_id text NOT NULL,
    url text,
    key text,
    fetch_status integer NOT NULL,
    observed_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    attempt_group integer NOT NULL DEFAULT 1,
    pin_adapter text,
    pin_profile text,
    trace_id text,
    PRIMARY KEY (tenant_id, capture_id),
    FOREIGN KEY (tenant_id, catalog_id) REFERENCES catalog,
    CONSTRAINT capture_source_fk FOREIGN KEY (tenant_id, source_id) REFERENCES source,
    CONSTRAINT capture_in_its_catalog UNIQUE (tenant_id, catalog_id, capture_id),
    CONSTRAINT capture_id_shape CHECK (capture_id ~ '^cap_[A-Za-z0-9_]+$'),
    CONSTRAINT capture_names_its_subject CHECK (url IS NOT NULL OR key IS NOT NULL),
    CONSTRAINT capture_observed_before_received CHECK (observed_at <= received_at),
    CONSTRAINT capture_attempt_group_from_one CHECK (attempt_group >= 1)
);

CREATE TABLE artifact (
    tenant_id text NOT NULL,
    artifact_id text NOT NULL,
    capture_id text NOT NULL,
    ordinal smallint NOT NULL,
    sha256 text NOT NULL,
    media_type text NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (tenant_id, artifact_id),
    FOREIGN KEY (tenant_id, capture_id) REFERENCES capture,
    CONSTRAINT artifact_evidence_fk FOREIGN KEY (tenant_id, sha256) REFERENCES evidence,
    CONSTRAINT artifact_ordinal_once UNIQUE (tenant_id, capture_id, ordinal),
    CONSTRAINT artifact_id_shape CHECK (artifact_id ~ '^art_[A-Za-z0-9_]+$')
);

-- The durable promise: an idempotency key is bound by its commit and by nothing before it. Never pruned.
CREATE TABLE receipt (
    tenant_id text NOT NULL,
    receipt_id text NOT NULL,
    capture_id text NOT NULL,
    idempotency_key text NOT NULL,
    body_digest bytea NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, receipt_id),
    FOREIGN KEY (tenant_id, capture_id) REFERENCES capture,
    CONSTRAINT receipt_capture_once UNIQUE (tenant_id, capture_id),
    CONSTRAINT receipt_idempotency_once UNIQUE (tenant_id, idempotency_key),
    CONSTRAINT receipt_id_shape CHECK (receipt_id ~ '^rcpt_[A-Za-z0-9_]+$'),
    CONSTRAINT receipt_idempotency_bounded CHECK (length(idempotency_key) BETWEEN 1 AND 200)
);
