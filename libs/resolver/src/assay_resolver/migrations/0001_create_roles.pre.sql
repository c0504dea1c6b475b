-- Roles are group names without login: the installer gives each process a login that is this role.
-- Request roles see the tenant of the caller's credential; pipeline roles see every tenant by a policy of their own.
-- The time limits keep a stopped process from holding a cursor row for ever (docs/ownership.md lists every grant).
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY[
        'assay_operator', 'assay_intake', 'assay_stages', 'assay_resolver_api',
        'assay_relay_events', 'assay_relay_jobs', 'assay_checker'
    ] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END LOOP;
    FOREACH role_name IN ARRAY ARRAY[
        'assay_operator', 'assay_intake', 'assay_stages', 'assay_resolver_api',
        'assay_relay_events', 'assay_relay_jobs'
    ] LOOP
        EXECUTE format('ALTER ROLE %I SET transaction_timeout = %L', role_name, '10s');
        EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = %L', role_name, '5s');
        EXECUTE format('ALTER ROLE %I SET lock_timeout = %L', role_name, '8s');
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA public TO assay_operator, assay_intake, assay_stages, assay_resolver_api,
    assay_relay_events, assay_relay_jobs, assay_checker;
