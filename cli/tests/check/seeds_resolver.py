"""A wrong in the resolver database for each rule that it can answer by itself."""

from .seed import Seed

ABOUT = "(SELECT capture_id FROM capture WHERE url LIKE '%/about')"
ABOUT_HASH = f"(SELECT sha256 FROM artifact WHERE capture_id = {ABOUT})"
UNSENT = "(SELECT capture_id FROM capture WHERE url LIKE '%/unsent')"
DESK = "(SELECT listing_id FROM listing WHERE url LIKE '%/desk')"
CHAIR_ITEM = "(SELECT item_id FROM mapping JOIN listing USING (listing_id) WHERE url LIKE '%/chair')"
TWO = "tenant_id = 'ten_two'"
NEXT_EPOCH = "UPDATE history_epoch SET state = 'closed'; INSERT INTO history_epoch VALUES (2, 'history-2', 'open');"
ALL_PRUNED = (
    " INSERT INTO stream_floor SELECT tenant_id, catalog_id, history_epoch, position, digest, now(), NULL"
    f" FROM cursor WHERE {TWO}"
)
PERSONS_DECISION = (
    "INSERT INTO decision SELECT tenant_id, catalog_id, 'dec_seeded', {epoch}, {request}, action, {actor}, rationale,"
    " basis, evidence, prior, undoes, {at} FROM decision WHERE tenant_id = 'ten_two'"
)


def _decision(epoch: str = "history-1", request: str = "seeded", actor: str = "person:x", at: str = "now") -> str:
    quoted = {"epoch": epoch, "request": request, "actor": actor, "at": at}
    return PERSONS_DECISION.format(**{name: f"'{value}'" for name, value in quoted.items()})


def _seed(rule: str, statements: str, *also: str) -> Seed:
    return Seed("resolver", rule, resolver=statements, also=also)


EVIDENCE = (
    _seed(
        "i1_accepted_without_stored_evidence",
        f"UPDATE evidence SET state = 'pending' WHERE sha256 = {ABOUT_HASH}",
    ),
    _seed(
        "i1_accepted_without_stored_evidence",
        f"DELETE FROM evidence WHERE sha256 = {ABOUT_HASH}",
    ),
    _seed(
        "i1_capture_without_artifact",
        f"DELETE FROM artifact WHERE capture_id = {ABOUT}",
        "i2_job_says_otherwise",
    ),
    _seed("i1_capture_without_receipt", f"DELETE FROM receipt WHERE capture_id = {ABOUT}", "i2_job_says_otherwise"),
)

JOBS = (
    _seed("i2_capture_without_job", f"DELETE FROM job WHERE capture_id = {UNSENT}"),
    _seed("i2_job_ended_without_trace", f"DELETE FROM inbox WHERE job_id = {ABOUT} || ':identity:1'"),
    _seed("i2_job_ended_without_trace", "INSERT INTO inbox VALUES ('ten_two', 'cap_x:extract:1')"),
    _seed("i2_job_dead_without_letter", f"UPDATE job SET state = 'dead', cause = 'x' WHERE capture_id = {UNSENT}"),
    _seed(
        "i2_chain_broken",
        f"DELETE FROM inbox WHERE job_id = {ABOUT} || ':identity:1';"
        f" DELETE FROM job WHERE job_id = {ABOUT} || ':identity:1'",
        "i3_job_passed_without_trace",
    ),
    _seed(
        "i2_job_before_its_turn",
        "INSERT INTO job (tenant_id, job_id, capture_id, stage, attempt_group, history_epoch, envelope_id, envelope_ts,"
        " payload) SELECT tenant_id, capture_id || ':normalize:1', capture_id, 'normalize', 1, history_epoch,"
        " gen_random_uuid(), envelope_ts, convert_to(replace(convert_from(payload, 'UTF8'), 'extract', 'normalize'),"
        f" 'UTF8') FROM job WHERE capture_id = {UNSENT}",
    ),
    _seed(
        "i2_extraction_without_job",
        "INSERT INTO extraction SELECT tenant_id, 'cat_main', capture_id, 1, sha256, 'pa_x@1', 'nothing', '[]'"
        f" FROM artifact WHERE capture_id = {UNSENT}",
    ),
    _seed(
        "i2_reading_without_job",
        "INSERT INTO reading SELECT tenant_id, catalog_id, 'rdg_x', capture_id, 1, '', 'k', NULL, 'np_product@1',"
        f" sha256('x') FROM capture WHERE capture_id = {UNSENT}",
    ),
    _seed("i2_decision_without_job", _decision(request="cap_x:identity:1#0", actor="rule:identity")),
    _seed("i2_done_without_result", f"DELETE FROM extraction WHERE capture_id = {ABOUT}"),
    _seed("i2_done_without_result", f"UPDATE job SET outcome = 'ok' WHERE job_id = {ABOUT} || ':normalize:1'"),
    _seed("i2_done_without_result", f"UPDATE job SET outcome = 'created' WHERE job_id = {ABOUT} || ':identity:1'"),
    _seed("i2_done_without_result", f"UPDATE job SET outcome = 'case' WHERE job_id = {ABOUT} || ':identity:1'"),
)

HISTORY = (
    _seed(
        "i4_positions_not_whole",
        f"UPDATE cursor SET position = position + 1 WHERE {TWO}",
        "i8_event_pruned_too_early",
    ),
    _seed(
        "i4_position_announced_otherwise",
        "INSERT INTO outbox (tenant_id, catalog_id, history_epoch, position, event_id, value) SELECT tenant_id,"
        f" catalog_id, history_epoch, position, event_id, value FROM outbox WHERE {TWO} AND position = 1",
        "i4_digest_differs",
        "i7_progress_digest_differs",
    ),
    _seed(
        "i4_event_without_change",
        "INSERT INTO outbox (tenant_id, catalog_id, history_epoch, position, event_id, value) SELECT tenant_id,"
        f" catalog_id, history_epoch, 999, event_id, value FROM outbox WHERE {TWO} AND position = 1",
        "i4_digest_differs",
        "i4_event_says_otherwise",
    ),
    _seed(
        "i5_published_beyond_history",
        f"UPDATE relay_stream SET published = published + 1 WHERE {TWO}",
        "i5_marked_before_acknowledged",
    ),
    _seed(
        "i6_revision_went_back",
        "UPDATE change c SET revision = 3 WHERE revision = 1 AND EXISTS (SELECT FROM change n"
        " WHERE n.id = c.id AND n.revision = 2)"
        " AND NOT EXISTS (SELECT FROM change n WHERE n.id = c.id AND n.revision = 3)",
        "i4_event_says_otherwise",
        "i6_row_behind_its_changes",
        "i6_projection_went_back",
        "i14_evidence_is_not_its_support",
    ),
    _seed("i6_row_behind_its_changes", f"UPDATE item SET revision = revision + 1 WHERE {TWO}"),
    _seed(
        "i6_row_not_as_decided",
        f'UPDATE attribute SET value = \'{{"lang":null,"text":"x","type":"text"}}\' WHERE {TWO} AND name = \'brand\'',
        "model_settle_differs",
    ),
    _seed("i6_row_not_as_decided", f"UPDATE mapping SET via = 'person' WHERE {TWO}"),
    _seed("i6_row_not_as_decided", f"UPDATE item SET state = 'retired' WHERE {TWO}"),
    _seed(
        "i8_event_pruned_too_early",
        f"DELETE FROM outbox WHERE {TWO} AND position = 1",
        "i4_digest_differs",
        "i7_progress_digest_differs",
    ),
)

RETENTION = (
    _seed(
        "i8_pruned_above_a_reader",
        "INSERT INTO consumer VALUES ('reader', 'live', true, now(), 'x', NULL);"
        " INSERT INTO consumer_progress SELECT 'reader', tenant_id, catalog_id, history_epoch, 0, now()"
        f" FROM cursor WHERE {TWO};" + ALL_PRUNED,
    ),
    _seed(
        "i8_pruned_above_a_reader",
        "INSERT INTO retention_lease SELECT 'lease_x', tenant_id, catalog_id, history_epoch, 0, 'x', 'x', now(),"
        f" now() + interval '1 hour' FROM cursor WHERE {TWO};" + ALL_PRUNED,
    ),
    _seed("i8_pruned_before_published", f"UPDATE relay_stream SET published = 0 WHERE {TWO};" + ALL_PRUNED),
)

EPOCHS = (
    _seed("i10_decision_of_no_open_epoch", NEXT_EPOCH + _decision(epoch="history-2", at="2000-01-01")),
    _seed(
        "i10_job_done_under_closed_epoch",
        f"{NEXT_EPOCH} UPDATE job SET history_epoch = 'history-2' WHERE job_id = {ABOUT} || ':identity:1';"
        f" UPDATE inbox SET done_at = '2000-01-01' WHERE job_id = {ABOUT} || ':identity:1'",
        "i2_job_says_otherwise",
    ),
    _seed(
        "i10_change_of_another_epoch",
        "INSERT INTO history_epoch VALUES (2, 'history-2', 'closed');"
        f" UPDATE decision SET history_epoch = 'history-2' WHERE {TWO}",
    ),
)

TENANTS = (
    _seed("i11_table_not_fenced", "ALTER TABLE pin NO FORCE ROW LEVEL SECURITY"),
    _seed("i11_policy_not_as_listed", "CREATE POLICY for_all ON pin USING (true)"),
    _seed("i11_policy_not_as_listed", "DROP POLICY own_tenant ON pin"),
    _seed("i11_policy_not_as_listed", "ALTER POLICY every_tenant ON pin TO assay_checker, assay_intake"),
    _seed("i11_policy_not_as_listed", "ALTER POLICY own_tenant ON pin USING (true)"),
    _seed("i11_role_sees_past_policies", "CREATE ROLE assay_seeded BYPASSRLS"),
    _seed("i11_role_sees_past_policies", "GRANT assay_stages TO assay_intake"),
    _seed(
        "i11_evidence_of_another_tenant",
        f"UPDATE decision SET evidence = ARRAY[replace(evidence[1], 'ten_two', 'ten_one')] WHERE {TWO}",
    ),
    _seed(
        "i11_evidence_of_another_tenant",
        f"UPDATE change SET data = replace(data, '/ten_two/', '/ten_one/') WHERE {TWO} AND type = 'mapping.set'",
        "i4_event_says_otherwise",
        "i7_projection_shows_another_value",
    ),
)

VALUES = (
    _seed("i14_value_without_decision", f"DELETE FROM decision WHERE {TWO}", "i2_done_without_result"),
    _seed(
        "i14_value_without_bytes",
        f"DELETE FROM support WHERE {TWO} AND id LIKE '%/brand'",
        "i14_evidence_is_not_its_support",
    ),
    _seed(
        "i14_value_without_bytes",
        f"DELETE FROM support WHERE {TWO} AND aggregate = 'mapping'",
        "i14_evidence_is_not_its_support",
    ),
    _seed("i14_fact_of_other_bytes", f"UPDATE fact SET adapter = 'pa_x@1' WHERE {TWO} AND n = 0"),
    _seed(
        "i14_fact_of_other_bytes",
        f"UPDATE fact SET sha256 = repeat('0', 64) WHERE {TWO} AND n = 0",
        "i14_value_without_bytes",
    ),
    _seed(
        "i14_evidence_is_not_its_support",
        f"INSERT INTO support SELECT s.tenant_id, s.catalog_id, s.aggregate, s.id, s.revision, s.reading_id, f.n"
        f" FROM support s JOIN fact f USING (tenant_id, catalog_id, reading_id)"
        f" WHERE s.{TWO} AND s.id LIKE '%/brand' AND f.n <> s.n LIMIT 1",
    ),
    _seed("i15_stream_held", f"UPDATE relay_stream SET held = 'a person must look' WHERE {TWO}"),
)

MODEL = (
    _seed(
        "model_mapping_not_to_root",
        f"UPDATE mapping SET item_id = {CHAIR_ITEM} WHERE listing_id = {DESK}",
        "i6_row_not_as_decided",
        "model_settle_differs",
    ),
    _seed(
        "model_listing_forgotten", "UPDATE review_case SET state = 'withdrawn', closed_at = now() WHERE state = 'open'"
    ),
    _seed(
        "model_listing_speaks_by_older",
        "UPDATE listing l SET reading_id = ("
        " SELECT r.reading_id FROM reading r JOIN capture c USING (tenant_id, capture_id)"
        " WHERE r.key = l.key AND r.tenant_id = l.tenant_id ORDER BY c.observed_at LIMIT 1)"
        " WHERE tenant_id = 'ten_one' AND url LIKE '%alpha%/lamp'",
        "model_settle_differs",
    ),
    _seed("model_item_key_differs", f"UPDATE item_key SET item_id = NULL WHERE {TWO}"),
    _seed("model_item_key_differs", f"DELETE FROM item_key WHERE {TWO}"),
    _seed(
        "model_attribute_of_nobody",
        "INSERT INTO attribute"
        " VALUES ('ten_two', 'cat_main', 'item', 'item_x', 'brand', '', 'item_x/brand', NULL, NULL, 1)",
        "i6_row_behind_its_changes",
    ),
    _seed("model_constraint_not_enforced", "DROP INDEX pin_one_standing"),
    _seed("model_constraint_not_enforced", "ALTER TABLE attribute DROP CONSTRAINT attribute_change_fk"),
    _seed("model_constraint_not_enforced", "ALTER TABLE pin DISABLE TRIGGER ALL"),
    _seed("model_history_can_be_altered", "DROP TRIGGER support_is_immutable ON support"),
)

SEEDS = (*EVIDENCE, *JOBS, *HISTORY, *RETENTION, *EPOCHS, *TENANTS, *VALUES, *MODEL)
