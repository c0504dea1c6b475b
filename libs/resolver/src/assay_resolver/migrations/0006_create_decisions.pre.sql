-- ⑤ the accepted catalog: every row rests on a change, every change on its decision, every value on facts.
-- cursor: the writers' lock of a stream, and where its history ends. digest runs over (position, event id, payload hash).
CREATE TABLE cursor (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    history_epoch text NOT NULL REFERENCES history_epoch (name),
    position bigint NOT NULL DEFAULT 0,
    digest bytea NOT NULL DEFAULT '\x0000000000000000000000000000000000000000000000000000000000000000',
    PRIMARY KEY (tenant_id, catalog_id, history_epoch),
    FOREIGN KEY (tenant_id, catalog_id) REFERENCES catalog,
    CONSTRAINT cursor_position_not_negative CHECK (position >= 0)
) WITH (fillfactor = 50);

CREATE TABLE decision (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    decision_id text NOT NULL,
    history_epoch text NOT NULL REFERENCES history_epoch (name),
    request_id text NOT NULL,
    action text NOT NULL,
    actor text NOT NULL,
    rationale text NOT NULL,
    basis text NOT NULL,
    evidence text[] NOT NULL,
    prior text[] NOT NULL,
    undoes text,
    decided_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, decision_id),
    FOREIGN KEY (tenant_id, catalog_id) REFERENCES catalog,
    CONSTRAINT decision_request_once UNIQUE (tenant_id, catalog_id, request_id),
    CONSTRAINT decision_basis_is_json CHECK (basis IS JSON OBJECT),
    CONSTRAINT decision_undoes_fk FOREIGN KEY (tenant_id, catalog_id, undoes) REFERENCES decision
);

-- One changed revision of one aggregate, with the event's data as published. Never pruned: this is the history.
CREATE TABLE change (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    aggregate text NOT NULL,
    id text NOT NULL,
    revision bigint NOT NULL,
    decision_id text NOT NULL,
    event_id uuid NOT NULL,
    history_epoch text NOT NULL,
    position bigint NOT NULL,
    type text NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, aggregate, id, revision),
    CONSTRAINT change_decision_fk FOREIGN KEY (tenant_id, catalog_id, decision_id) REFERENCES decision,
    CONSTRAINT change_position_once UNIQUE (tenant_id, catalog_id, history_epoch, position),
    CONSTRAINT change_aggregate_known CHECK (aggregate IN ('item', 'mapping', 'attribute')),
    CONSTRAINT change_revision_from_one CHECK (revision >= 1),
    CONSTRAINT change_data_is_json CHECK (data IS JSON OBJECT)
);
CREATE INDEX change_by_decision ON change (tenant_id, catalog_id, decision_id);

CREATE TABLE support (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    aggregate text NOT NULL,
    id text NOT NULL,
    revision bigint NOT NULL,
    reading_id text NOT NULL,
    n smallint NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, aggregate, id, revision, reading_id, n),
    CONSTRAINT support_change_fk FOREIGN KEY (tenant_id, catalog_id, aggregate, id, revision) REFERENCES change,
    CONSTRAINT support_fact_fk FOREIGN KEY (tenant_id, catalog_id, reading_id, n) REFERENCES fact
);

CREATE FUNCTION change_must_have_support() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM support s
        WHERE s.tenant_id = NEW.tenant_id AND s.catalog_id = NEW.catalog_id
          AND s.aggregate = NEW.aggregate AND s.id = NEW.id AND s.revision = NEW.revision
    ) THEN
        RAISE EXCEPTION 'change % % revision % has no supporting fact', NEW.aggregate, NEW.id, NEW.revision
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'change_has_support';
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER change_has_support AFTER INSERT ON change
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.type IN ('attribute.set', 'mapping.set')) EXECUTE FUNCTION change_must_have_support();

-- Immutable means that the database refuses to alter it, whoever asks.
CREATE FUNCTION refuse_change_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is immutable', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;

CREATE TABLE item (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    item_id text NOT NULL,
    state text NOT NULL,
    merged_into text,
    revision bigint NOT NULL,
    aggregate text NOT NULL GENERATED ALWAYS AS ('item') STORED,
    is_root boolean NOT NULL GENERATED ALWAYS AS (merged_into IS NULL) STORED,
    PRIMARY KEY (tenant_id, catalog_id, item_id),
    CONSTRAINT item_root_once UNIQUE (tenant_id, catalog_id, item_id, is_root),
    CONSTRAINT item_change_fk FOREIGN KEY (tenant_id, catalog_id, aggregate, item_id, revision) REFERENCES change,
    CONSTRAINT item_merged_into_fk FOREIGN KEY (tenant_id, catalog_id, merged_into) REFERENCES item,
    CONSTRAINT item_state_known CHECK (state IN ('active', 'retired', 'merged')),
    CONSTRAINT item_merged_names_its_root CHECK ((state = 'merged') = (merged_into IS NOT NULL))
) WITH (fillfactor = 80);

CREATE TABLE listing (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    listing_id text NOT NULL,
    source_id text NOT NULL,
    key text NOT NULL,
    serial integer NOT NULL DEFAULT 1,
    url text,
    state text NOT NULL DEFAULT 'open',
    reading_id text NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, listing_id),
    FOREIGN KEY (tenant_id, catalog_id) REFERENCES catalog,
    CONSTRAINT listing_source_fk FOREIGN KEY (tenant_id, source_id) REFERENCES source,
    CONSTRAINT listing_reading_fk FOREIGN KEY (tenant_id, catalog_id, reading_id) REFERENCES reading,
    CONSTRAINT listing_serial_key UNIQUE (tenant_id, catalog_id, source_id, key, serial),
    CONSTRAINT listing_state_known CHECK (state IN ('open', 'gone', 'replaced', 'rejected'))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX listing_one_live ON listing (tenant_id, catalog_id, source_id, key)
    WHERE state IN ('open', 'gone');

CREATE TABLE listing_key (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    listing_id text NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, kind, value, listing_id),
    FOREIGN KEY (tenant_id, catalog_id, listing_id) REFERENCES listing
);
CREATE INDEX listing_key_by_listing ON listing_key (tenant_id, catalog_id, listing_id);

-- INV-01 is the primary key: a listing maps to at most one item. A cleared mapping stays, with null items, for its revision.
CREATE TABLE mapping (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    listing_id text NOT NULL,
    home_item_id text,
    item_id text,
    via text,
    score text,
    revision bigint NOT NULL,
    aggregate text NOT NULL GENERATED ALWAYS AS ('mapping') STORED,
    to_root boolean NOT NULL GENERATED ALWAYS AS (true) STORED,
    PRIMARY KEY (tenant_id, catalog_id, listing_id),
    FOREIGN KEY (tenant_id, catalog_id, listing_id) REFERENCES listing,
    CONSTRAINT mapping_change_fk FOREIGN KEY (tenant_id, catalog_id, aggregate, listing_id, revision) REFERENCES change,
    CONSTRAINT mapping_home_fk FOREIGN KEY (tenant_id, catalog_id, home_item_id) REFERENCES item,
    CONSTRAINT mapping_to_root FOREIGN KEY (tenant_id, catalog_id, item_id, to_root)
        REFERENCES item (tenant_id, catalog_id, item_id, is_root),
    CONSTRAINT mapping_set_or_cleared CHECK (num_nulls(home_item_id, item_id, via) IN (0, 3))
) WITH (fillfactor = 80);
CREATE INDEX mapping_by_item ON mapping (tenant_id, catalog_id, item_id);

-- INV-02 is the primary key: one accepted value per owner, name and line. A cleared one stays, with null value, for its revision.
CREATE TABLE attribute (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    owner_type text NOT NULL,
    owner_id text NOT NULL,
    name text NOT NULL,
    line text NOT NULL DEFAULT '',
    attribute_id text NOT NULL,
    value text,
    by text,
    revision bigint NOT NULL,
    aggregate text NOT NULL GENERATED ALWAYS AS ('attribute') STORED,
    PRIMARY KEY (tenant_id, catalog_id, owner_type, owner_id, name, line),
    CONSTRAINT attribute_id_once UNIQUE (tenant_id, catalog_id, attribute_id),
    CONSTRAINT attribute_change_fk FOREIGN KEY (tenant_id, catalog_id, aggregate, attribute_id, revision)
        REFERENCES change,
    CONSTRAINT attribute_owner_known CHECK (owner_type IN ('item', 'listing')),
    CONSTRAINT attribute_by_known CHECK (by IN ('rule', 'person')),
    CONSTRAINT attribute_set_or_cleared CHECK ((value IS NULL) = (by IS NULL)),
    CONSTRAINT attribute_value_is_json CHECK (value IS NULL OR value IS JSON OBJECT)
) WITH (fillfactor = 80);

-- The root that an exact key leads to; null where the key belongs to several roots and therefore decides nothing.
CREATE TABLE item_key (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    item_id text,
    PRIMARY KEY (tenant_id, catalog_id, kind, value),
    FOREIGN KEY (tenant_id, catalog_id, item_id) REFERENCES item
);
CREATE INDEX item_key_by_item ON item_key (tenant_id, catalog_id, item_id);

CREATE TABLE candidate (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    reading_id text NOT NULL,
    item_id text NOT NULL,
    score text NOT NULL,
    features text NOT NULL,
    model text NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, reading_id, item_id),
    FOREIGN KEY (tenant_id, catalog_id, reading_id) REFERENCES reading,
    FOREIGN KEY (tenant_id, catalog_id, item_id) REFERENCES item,
    CONSTRAINT candidate_features_are_json CHECK (features IS JSON OBJECT)
);

CREATE TABLE review_case (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    case_id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    reading_id text NOT NULL,
    reason text NOT NULL,
    state text NOT NULL DEFAULT 'open',
    revision bigint NOT NULL DEFAULT 1,
    decision_id text,
    opened_at timestamptz NOT NULL,
    closed_at timestamptz,
    PRIMARY KEY (tenant_id, catalog_id, case_id),
    CONSTRAINT case_subject_fk FOREIGN KEY (tenant_id, catalog_id, subject) REFERENCES listing,
    CONSTRAINT case_reading_fk FOREIGN KEY (tenant_id, catalog_id, reading_id) REFERENCES reading,
    CONSTRAINT case_decision_fk FOREIGN KEY (tenant_id, catalog_id, decision_id) REFERENCES decision,
    CONSTRAINT case_kind_known CHECK (kind IN ('match', 'collision', 'conflict', 'replaced')),
    CONSTRAINT case_state_known CHECK (state IN ('open', 'decided', 'withdrawn')),
    CONSTRAINT case_closed_has_time CHECK ((state = 'open') = (closed_at IS NULL)),
    CONSTRAINT case_decided_by_decision CHECK (state <> 'decided' OR decision_id IS NOT NULL)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX case_one_open ON review_case (tenant_id, catalog_id, kind, subject) WHERE state = 'open';

CREATE TABLE case_ref (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    case_id text NOT NULL,
    type text NOT NULL,
    id text NOT NULL,
    PRIMARY KEY (tenant_id, catalog_id, case_id, type, id),
    FOREIGN KEY (tenant_id, catalog_id, case_id) REFERENCES review_case,
    CONSTRAINT case_ref_type_known CHECK (type IN ('item', 'listing', 'key'))
);
CREATE INDEX case_ref_by_id ON case_ref (tenant_id, catalog_id, type, id);

-- A person's value: the fact of the person's stored statement. The latest that is not withdrawn speaks.
CREATE TABLE pin (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    item_id text NOT NULL,
    name text NOT NULL,
    decision_id text NOT NULL,
    reading_id text NOT NULL,
    n smallint NOT NULL,
    withdrawn_by text,
    PRIMARY KEY (tenant_id, catalog_id, item_id, name, decision_id),
    FOREIGN KEY (tenant_id, catalog_id, item_id) REFERENCES item,
    CONSTRAINT pin_decision_fk FOREIGN KEY (tenant_id, catalog_id, decision_id) REFERENCES decision,
    CONSTRAINT pin_fact_fk FOREIGN KEY (tenant_id, catalog_id, reading_id, n) REFERENCES fact,
    CONSTRAINT pin_withdrawn_fk FOREIGN KEY (tenant_id, catalog_id, withdrawn_by) REFERENCES decision
);
CREATE UNIQUE INDEX pin_one_standing ON pin (tenant_id, catalog_id, item_id, name) WHERE withdrawn_by IS NULL;

-- Two things that a person said differ: listing or item ids, left below right.
CREATE TABLE verdict (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    "left" text NOT NULL,
    "right" text NOT NULL,
    decision_id text NOT NULL,
    withdrawn_by text,
    PRIMARY KEY (tenant_id, catalog_id, "left", "right", decision_id),
    CONSTRAINT verdict_decision_fk FOREIGN KEY (tenant_id, catalog_id, decision_id) REFERENCES decision,
    CONSTRAINT verdict_withdrawn_fk FOREIGN KEY (tenant_id, catalog_id, withdrawn_by) REFERENCES decision,
    CONSTRAINT verdict_in_order CHECK ("left" COLLATE "C" < "right" COLLATE "C")
);
CREATE INDEX verdict_by_right ON verdict (tenant_id, catalog_id, "right");

DO $$
DECLARE
    table_name text;
BEGIN
    FOREACH table_name IN ARRAY ARRAY['extraction', 'reading', 'fact', 'decision', 'change', 'support'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON %I FOR EACH ROW
                        EXECUTE FUNCTION refuse_change_of_history()', table_name || '_is_immutable', table_name);
    END LOOP;
END
$$;
