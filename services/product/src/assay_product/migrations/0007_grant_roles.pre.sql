-- Who may do what.
GRANT SELECT ON ALL TABLES IN SCHEMA public TO assay_operator, assay_checker;
GRANT INSERT ON api_key TO assay_operator;
GRANT UPDATE (revoked_at) ON api_key TO assay_operator;
-- A person who has looked at a halted stream lets it go on.
GRANT UPDATE (halted) ON cursor TO assay_operator;

GRANT SELECT ON database_identity, generation, cursor, inbox, parked, item, mapping, attribute, kafka_offset, dead_letter
    TO assay_apply;
GRANT INSERT ON generation, cursor, inbox, parked, item, mapping, attribute, kafka_offset, dead_letter TO assay_apply;
-- Row locks need an update right: apply locks the live row and changes nothing in it.
GRANT UPDATE (state) ON generation TO assay_apply;
GRANT UPDATE ON cursor, item, mapping, attribute TO assay_apply;
GRANT UPDATE (reason, waits_for_type, waits_for_id, waits_for_revision) ON parked TO assay_apply;
GRANT DELETE ON parked TO assay_apply;
GRANT UPDATE (next_offset) ON kafka_offset TO assay_apply;
GRANT UPDATE (published_at) ON dead_letter TO assay_apply;

GRANT SELECT ON database_identity, generation, cursor, item, mapping, attribute TO assay_product_api;
GRANT SELECT (tenant_id, catalog_id, generation, position, reason, waits_for_type, waits_for_id, waits_for_revision, parked_at)
    ON parked TO assay_product_api;
GRANT EXECUTE ON FUNCTION api_key_by_id(text), attribute_owners_matching(text, integer, text[]) TO assay_product_api;
