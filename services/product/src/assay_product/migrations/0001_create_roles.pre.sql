-- Roles are group names without login: the installer gives each process a login that is this role.
-- assay_apply writes the projection of every tenant; assay_product_api reads what the caller's credential names.
-- The time limits keep a stopped process from holding a stream's row for ever.
DO $$
DECLARE
    role_name text;
    setting text[];
BEGIN
    FOREACH role_name IN ARRAY ARRAY['assay_operator', 'assay_apply', 'assay_product_api', 'assay_checker'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END LOOP;
    FOREACH role_name IN ARRAY ARRAY['assay_apply', 'assay_product_api'] LOOP
        FOREACH setting SLICE 1 IN ARRAY ARRAY[
            ['transaction_timeout', '10s'], ['idle_in_transaction_session_timeout', '5s'], ['lock_timeout', '8s']
        ] LOOP
            BEGIN
                EXECUTE format('ALTER ROLE %I SET %I = %L', role_name, setting[1], setting[2]);
            -- Roles belong to the whole server: another database's migration is writing the same value right now.
            EXCEPTION WHEN internal_error THEN NULL;
            END;
        END LOOP;
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA public TO assay_operator, assay_apply, assay_product_api, assay_checker;
