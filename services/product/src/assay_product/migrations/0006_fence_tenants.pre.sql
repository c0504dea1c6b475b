-- Row level security, forced on every table that names a tenant: one policy for the API, which speaks for one tenant,
-- one for the named roles that see all, and none for anybody else.
DO $$
DECLARE
    table_name text;
BEGIN
    FOR table_name IN
        SELECT c.relname FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', table_name);
        EXECUTE format($policy$CREATE POLICY own_tenant ON %I TO assay_product_api
            USING (tenant_id = current_setting('assay.tenant_id', true))$policy$, table_name);
        EXECUTE format($policy$CREATE POLICY every_tenant ON %I TO assay_operator, assay_apply, assay_checker
            USING (true)$policy$, table_name);
    END LOOP;
END
$$;
-- The two SECURITY DEFINER functions run as the owner, on whom row level security is forced too.
CREATE POLICY by_key_id ON api_key FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY by_search ON attribute FOR SELECT TO CURRENT_USER USING (true);
