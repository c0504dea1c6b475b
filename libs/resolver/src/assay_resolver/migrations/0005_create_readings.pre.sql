-- ④ what the stages read: immutable, by (capture, attempt group); values are canonical JSON text, compared by their bytes.
CREATE TABLE extraction (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    capture_id text NOT NULL,
    attempt_group integer NOT NULL,
    sha256 text NOT NULL,
    adapter text NOT NULL,
    outcome text NOT NULL,
    found bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, catalog_id, capture_id, attempt_group, sha256, adapter),
    FOREIGN KEY (tenant_id, catalog_id, capture_id) REFERENCES capture (tenant_id, catalog_id, capture_id),
    CONSTRAINT extraction_evidence_fk FOREIGN KEY (tenant_id, sha256) REFERENCES evidence,
    CONSTRAINT extraction_outcome_known CHECK (outcome IN ('ok', 'nothing', 'broken'))
);

-- One product in one capture. key: the listing key that this reading speaks for.
CREATE TABLE reading (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    reading_id text NOT NULL,
    capture_id text NOT NULL,
    attempt_group integer NOT NULL,
    node text NOT NULL,
    key text NOT NULL,
    group_key text,
    profile text NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, reading_id),
    FOREIGN KEY (tenant_id, catalog_id, capture_id) REFERENCES capture (tenant_id, catalog_id, capture_id),
    CONSTRAINT reading_node_once UNIQUE (tenant_id, catalog_id, capture_id, attempt_group, node),
    CONSTRAINT reading_of_its_group UNIQUE (tenant_id, catalog_id, reading_id, capture_id, attempt_group),
    CONSTRAINT reading_digest_is_sha256 CHECK (length(digest) = 32)
);

-- n orders a reading's facts: of several that state the same name and line the lowest n with a value speaks.
CREATE TABLE fact (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    reading_id text NOT NULL,
    n smallint NOT NULL,
    capture_id text NOT NULL,
    attempt_group integer NOT NULL,
    sha256 text NOT NULL,
    adapter text NOT NULL,
    name text NOT NULL,
    line text NOT NULL DEFAULT '',
    raw text NOT NULL,
    value text,
    problem text,
    place_syntax text NOT NULL,
    place text NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, reading_id, n),
    CONSTRAINT fact_reading_fk FOREIGN KEY (tenant_id, catalog_id, reading_id, capture_id, attempt_group)
        REFERENCES reading (tenant_id, catalog_id, reading_id, capture_id, attempt_group),
    CONSTRAINT fact_extraction_fk FOREIGN KEY (tenant_id, catalog_id, capture_id, attempt_group, sha256, adapter)
        REFERENCES extraction,
    CONSTRAINT fact_value_or_problem CHECK ((value IS NULL) = (problem IS NOT NULL)),
    CONSTRAINT fact_value_is_json CHECK (value IS NULL OR value IS JSON OBJECT),
    CONSTRAINT fact_raw_bounded CHECK (length(raw) <= 1000),
    CONSTRAINT fact_place_known CHECK (place_syntax IN ('json_pointer', 'xpath', 'chars', 'cell', 'page'))
);
