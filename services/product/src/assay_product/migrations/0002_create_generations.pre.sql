-- Which database this is. An operator who restores it from a backup gives it another incarnation.
CREATE TABLE database_identity (
    only_row boolean PRIMARY KEY DEFAULT true,
    database_id uuid NOT NULL DEFAULT gen_random_uuid(),
    incarnation_id uuid NOT NULL DEFAULT gen_random_uuid(),
    CONSTRAINT database_identity_is_one_row CHECK (only_row)
);
INSERT INTO database_identity DEFAULT VALUES;

-- One build of a catalog's projection, from one history epoch. Readers see the live one.
-- The live row is the lock of the stream: apply takes it first and learns the generation from it.
CREATE TABLE generation (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    generation integer NOT NULL,
    history_epoch text NOT NULL,
    state text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, catalog_id, generation),
    CONSTRAINT generation_from_one CHECK (generation >= 1),
    CONSTRAINT generation_state_known CHECK (state IN ('live', 'shadow', 'old'))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX generation_one_live ON generation (tenant_id, catalog_id) WHERE state = 'live';

-- How far a generation has come. progress: 1..progress are processed without a hole; highest: the furthest position that
-- is processed or parked; processed: how many events took effect or came too late for any; digest: runs over
-- 1..progress, as the resolver's own cursor does; halted: why the stream takes no effect until a person has looked.
CREATE TABLE cursor (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    generation integer NOT NULL,
    progress bigint NOT NULL DEFAULT 0,
    highest bigint NOT NULL DEFAULT 0,
    processed bigint NOT NULL DEFAULT 0,
    digest bytea NOT NULL DEFAULT '\x0000000000000000000000000000000000000000000000000000000000000000',
    halted text,
    moved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, catalog_id, generation),
    FOREIGN KEY (tenant_id, catalog_id, generation) REFERENCES generation,
    CONSTRAINT cursor_progress_up_to_highest CHECK (progress BETWEEN 0 AND highest),
    CONSTRAINT cursor_processed_holds_progress CHECK (processed BETWEEN progress AND highest),
    CONSTRAINT cursor_digest_is_sha256 CHECK (length(digest) = 32)
) WITH (fillfactor = 50);

-- An event that has taken its effect, or none because it came too late. The tables below have no foreign key to the
-- generation: who writes them holds its row, and a check per row would cost as much as the row.
CREATE TABLE inbox (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    generation integer NOT NULL,
    event_id uuid NOT NULL,
    position bigint NOT NULL,
    outcome text NOT NULL,
    sha256 bytea NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, generation, event_id),
    CONSTRAINT inbox_position_once UNIQUE (tenant_id, catalog_id, generation, position),
    CONSTRAINT inbox_position_from_one CHECK (position >= 1),
    CONSTRAINT inbox_outcome_known CHECK (outcome IN ('applied', 'ignored')),
    CONSTRAINT inbox_sha256_length CHECK (length(sha256) = 32)
);

-- Events that came before what they rest on, with the Kafka value as it came. reason says what releases them:
-- dependency: the named revision applies; data: the event holds a ref and waits to be fetched; halted: its stream goes on.
CREATE TABLE parked (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    generation integer NOT NULL,
    position bigint NOT NULL,
    event_id uuid NOT NULL,
    value bytea NOT NULL,
    reason text NOT NULL,
    waits_for_type text,
    waits_for_id text,
    waits_for_revision bigint,
    parked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, catalog_id, generation, position),
    CONSTRAINT parked_event_once UNIQUE (tenant_id, catalog_id, generation, event_id),
    CONSTRAINT parked_reason_known CHECK (reason IN ('dependency', 'data', 'halted')),
    CONSTRAINT parked_dependency_is_named CHECK (
        num_nulls(waits_for_type, waits_for_id, waits_for_revision) = CASE reason WHEN 'dependency' THEN 0 ELSE 3 END
    )
);
CREATE INDEX parked_waits_for
    ON parked (tenant_id, catalog_id, generation, waits_for_type, waits_for_id, waits_for_revision);
