-- The history clock: it rises every second while a relay runs, and is copied to a witness outside of this database. A
-- database that is behind its witness was restored to an older moment.
CREATE TABLE history_clock (
    only_row boolean PRIMARY KEY DEFAULT true,
    database_id uuid NOT NULL DEFAULT gen_random_uuid(),
    clock bigint NOT NULL DEFAULT 0,
    CONSTRAINT history_clock_is_one_row CHECK (only_row),
    CONSTRAINT history_clock_not_negative CHECK (clock >= 0)
) WITH (fillfactor = 20);
INSERT INTO history_clock DEFAULT VALUES;
GRANT SELECT ON history_clock TO assay_operator, assay_intake, assay_stages, assay_resolver_api, assay_relay_events,
    assay_relay_jobs, assay_relay_prune, assay_relay_api, assay_checker;
GRANT UPDATE (clock) ON history_clock TO assay_relay_events;
