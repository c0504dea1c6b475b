-- Who may do what: kept equal to docs/ownership.md by a test.
GRANT SELECT ON ALL TABLES IN SCHEMA public TO assay_checker;

GRANT SELECT, INSERT ON tenant, catalog, api_key, source TO assay_operator;
GRANT UPDATE (revoked_at) ON api_key TO assay_operator;
GRANT UPDATE (trust) ON source TO assay_operator;
GRANT SELECT ON history_epoch TO assay_operator;

GRANT EXECUTE ON FUNCTION api_key_by_id(text) TO assay_intake, assay_resolver_api;

GRANT SELECT ON tenant, catalog, source, history_epoch, evidence, capture, artifact, receipt, job TO assay_intake;
GRANT INSERT ON evidence, capture, artifact, receipt, job TO assay_intake;
GRANT UPDATE (state) ON evidence TO assay_intake;
GRANT UPDATE (sent_topic_id, sent_partition, sent_offset) ON job TO assay_intake;

GRANT SELECT ON tenant, catalog, source, history_epoch, evidence, capture, artifact, receipt TO assay_stages;
-- Row locks need an update right: the stages lock a capture FOR SHARE and never write it.
GRANT UPDATE (attempt_group) ON capture TO assay_stages;
GRANT SELECT, INSERT, UPDATE ON job TO assay_stages;
GRANT SELECT, INSERT ON inbox, dead_letter, extraction, reading, fact TO assay_stages;

GRANT SELECT ON tenant, catalog, source, history_epoch, evidence, capture, artifact, receipt, job, inbox, dead_letter,
    extraction TO assay_resolver_api;
-- A person's statement is a capture of the reserved source, written in the decision's transaction.
GRANT INSERT ON source, evidence, capture, artifact, receipt, extraction TO assay_resolver_api;
GRANT UPDATE (attempt_group) ON capture TO assay_resolver_api;
GRANT SELECT, INSERT ON reading, fact TO assay_resolver_api;

GRANT SELECT, INSERT ON cursor, decision, change, support, item, listing, listing_key, mapping, attribute, item_key,
    candidate, review_case, case_ref, pin, verdict TO assay_stages, assay_resolver_api;
GRANT UPDATE (position, digest) ON cursor TO assay_stages, assay_resolver_api;
GRANT UPDATE (state, merged_into, revision) ON item TO assay_stages, assay_resolver_api;
GRANT UPDATE (url, state, reading_id) ON listing TO assay_stages, assay_resolver_api;
GRANT UPDATE (home_item_id, item_id, via, score, revision) ON mapping TO assay_stages, assay_resolver_api;
GRANT UPDATE (value, by, revision) ON attribute TO assay_stages, assay_resolver_api;
GRANT UPDATE (item_id) ON item_key TO assay_stages, assay_resolver_api;
GRANT UPDATE (score, features, model) ON candidate TO assay_stages, assay_resolver_api;
GRANT UPDATE (reading_id, reason, state, revision, decision_id, closed_at) ON review_case TO assay_stages, assay_resolver_api;
GRANT UPDATE (withdrawn_by) ON pin, verdict TO assay_resolver_api;
GRANT DELETE ON listing_key, item_key, case_ref, candidate TO assay_stages, assay_resolver_api;
GRANT INSERT ON outbox TO assay_stages, assay_resolver_api;

GRANT SELECT ON outbox, cursor, history_epoch, relay_stream, relay_bucket TO assay_relay_events;
GRANT INSERT ON relay_stream TO assay_relay_events;
GRANT UPDATE (published, held) ON relay_stream TO assay_relay_events;
GRANT UPDATE (owner, lease_epoch, expires_at) ON relay_bucket TO assay_relay_events;
GRANT EXECUTE ON FUNCTION outbox_add_partitions(integer) TO assay_relay_events;

GRANT SELECT ON job, dead_letter, history_epoch TO assay_relay_jobs;
GRANT UPDATE (sent_topic_id, sent_partition, sent_offset) ON job TO assay_relay_jobs;
GRANT UPDATE (published_at) ON dead_letter TO assay_relay_jobs;
