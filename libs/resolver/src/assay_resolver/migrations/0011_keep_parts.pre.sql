-- What a decision asserted, part by part, with the state before and after it. An undo withdraws each part that is still
-- as the decision left it and asserts the one before; it has parts of its own, so that an undo can be undone.
-- Everything that is derived (values, keys, roots) has no part: settling makes it again. id names the part by its kind:
-- an item, a listing (kinds mapping and listing), item/name (pin), left right (verdict), a case.
CREATE TABLE decision_part (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    decision_id text NOT NULL,
    n integer NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    before text,
    after text,
    PRIMARY KEY (tenant_id, catalog_id, decision_id, n),
    CONSTRAINT decision_part_decision_fk FOREIGN KEY (tenant_id, catalog_id, decision_id) REFERENCES decision,
    CONSTRAINT decision_part_kind_known CHECK (kind IN ('item', 'mapping', 'pin', 'verdict', 'listing', 'case')),
    CONSTRAINT decision_part_is_json CHECK (
        (before IS NULL OR before IS JSON OBJECT) AND (after IS NULL OR after IS JSON OBJECT)
    ),
    CONSTRAINT decision_part_differs CHECK (before IS DISTINCT FROM after)
);
CREATE INDEX decision_part_by_subject ON decision_part (tenant_id, catalog_id, kind, id);
CREATE TRIGGER decision_part_is_immutable BEFORE UPDATE OR DELETE ON decision_part FOR EACH ROW
    EXECUTE FUNCTION refuse_change_of_history();

-- What raised a case's revision: the decision that touched what it rests on, or the reading that it is now about.
-- An answer to an old revision is refused with what lies between.
CREATE TABLE case_revision (
    tenant_id text NOT NULL,
    catalog_id text NOT NULL,
    case_id text NOT NULL,
    revision bigint NOT NULL,
    state text NOT NULL,
    reading_id text NOT NULL,
    decision_id text,
    PRIMARY KEY (tenant_id, catalog_id, case_id, revision),
    CONSTRAINT case_revision_case_fk FOREIGN KEY (tenant_id, catalog_id, case_id) REFERENCES review_case,
    CONSTRAINT case_revision_decision_fk FOREIGN KEY (tenant_id, catalog_id, decision_id) REFERENCES decision
);
CREATE TRIGGER case_revision_is_immutable BEFORE UPDATE OR DELETE ON case_revision FOR EACH ROW
    EXECUTE FUNCTION refuse_change_of_history();

-- A pair differs or it does not: the latest word stands alone.
CREATE UNIQUE INDEX verdict_one_standing ON verdict (tenant_id, catalog_id, "left", "right") WHERE withdrawn_by IS NULL;
-- Who is below an item, asked at each settling.
CREATE INDEX item_by_merged_into ON item (tenant_id, catalog_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX decision_by_undoes ON decision (tenant_id, catalog_id, undoes) WHERE undoes IS NOT NULL;
ALTER TABLE item ADD CONSTRAINT item_not_into_itself CHECK (merged_into <> item_id);

DO $$
DECLARE
    table_name text;
BEGIN
    FOREACH table_name IN ARRAY ARRAY['decision_part', 'case_revision'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
        EXECUTE format($policy$CREATE POLICY own_tenant ON %I TO assay_intake, assay_resolver_api
            USING (tenant_id = current_setting('assay.tenant_id', true))$policy$, table_name);
        EXECUTE format($policy$CREATE POLICY every_tenant ON %I
            TO assay_operator, assay_stages, assay_relay_events, assay_relay_jobs, assay_checker
            USING (true)$policy$, table_name);
    END LOOP;
END
$$;

GRANT SELECT ON decision_part, case_revision TO assay_checker;
GRANT SELECT, INSERT ON decision_part, case_revision TO assay_stages, assay_resolver_api;
