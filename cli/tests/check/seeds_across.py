"""A wrong in rows for each rule that takes both databases, the topics, or code to answer."""

from .seed import Seed
from .seeds_resolver import ABOUT, UNSENT

TWO = "tenant_id = 'ten_two'"


def _resolver(rule: str, statements: str, *also: str) -> Seed:
    return Seed("python", rule, resolver=statements, also=also)


def _product(rule: str, statements: str, *also: str) -> Seed:
    return Seed("python", rule, product=statements, also=also)


SEEDS = (
    _resolver(
        "i2_job_says_otherwise",
        "UPDATE job SET payload = convert_to(replace(convert_from(payload, 'UTF8'), 'src_alpha', 'src_beta'), 'UTF8')"
        f" WHERE capture_id = {UNSENT}",
    ),
    _resolver("i2_job_says_otherwise", f"UPDATE job SET payload = '{{}}' WHERE capture_id = {UNSENT}"),
    _resolver(
        "i2_message_not_of_its_job",
        f"UPDATE job SET envelope_id = '01a22edf-13a4-70f7-882c-1ea3860c2c2c' WHERE job_id = {ABOUT} || ':identity:1'",
    ),
    _product("i2_letter_copy_differs", "UPDATE dead_letter SET value = 'other nonsense'"),
    _product(
        "i2_letter_marked_before_copied",
        "INSERT INTO dead_letter SELECT topic_id, partition, 999, topic, tenant_id, reason, cause, key, value, headers,"
        " published_at FROM dead_letter",
    ),
    _product("i3_event_passed_without_trace", "DELETE FROM dead_letter"),
    _resolver(
        "i3_offset_past_open_job",
        f"DELETE FROM inbox WHERE job_id = {ABOUT} || ':identity:1';"
        f" UPDATE job SET state = 'open', outcome = NULL WHERE job_id = {ABOUT} || ':identity:1'",
    ),
    _product("i3_offset_past_projection", "UPDATE kafka_offset SET next_offset = next_offset - 1"),
    _resolver("i3_unreadable_without_dead_letter", "DELETE FROM dead_letter WHERE tenant_id IS NULL"),
    _resolver("i4_digest_differs", f"UPDATE cursor SET digest = sha256('x') WHERE {TWO}"),
    _resolver(
        "i4_event_says_otherwise",
        "UPDATE change c SET decision_id = (SELECT min(decision_id) FROM decision d WHERE d.tenant_id = c.tenant_id"
        " AND d.decision_id <> c.decision_id) WHERE revision = 1 AND aggregate = 'attribute'"
        " AND EXISTS (SELECT FROM change n WHERE n.id = c.id AND n.revision = 2)",
    ),
    _product("i6_projection_went_back", "UPDATE attribute SET revision = 1 WHERE revision = 2"),
    _product("i7_progress_digest_differs", f"UPDATE cursor SET digest = sha256('x') WHERE {TWO}"),
    _product("i7_projection_is_not_the_fold", f"DELETE FROM item WHERE {TWO}"),
    _product(
        "i7_projection_is_not_the_fold",
        "INSERT INTO item SELECT tenant_id, catalog_id, generation, 'item_x', state, merged_into, because, revision,"
        f" position, decision_id, occurred_at FROM item WHERE {TWO}",
    ),
    _product("i7_projection_shows_another_value", f"UPDATE mapping SET url = 'https://x.example/' WHERE {TWO}"),
    _product("i7_projection_shows_another_value", f"UPDATE item SET because = 'x' WHERE {TWO}"),
    _product("i7_projection_shows_another_value", f"UPDATE attribute SET by = 'person' WHERE {TWO} AND name = 'brand'"),
    _product(
        "i10_foreign_event_took_effect",
        f"UPDATE inbox SET event_id = gen_random_uuid() WHERE {TWO} AND position = 1",
    ),
    _product(
        "i10_generation_of_unknown_epoch",
        f"UPDATE generation SET history_epoch = 'history-9' WHERE {TWO}",
        "i3_event_passed_without_trace",
        "i7_projection_is_not_the_fold",
        "i10_foreign_event_took_effect",
    ),
    _product("i11_credentials_differ", "UPDATE api_key SET tenant_id = 'ten_one'"),
    _resolver("i11_credentials_differ", "UPDATE api_key SET revoked_at = '2000-01-01'"),
    _resolver("i11_credentials_differ", "DELETE FROM api_key"),
    _product("i11_letter_of_another_tenant", "UPDATE dead_letter SET tenant_id = 'ten_one'"),
    _resolver("model_listing_key_differs", f"DELETE FROM listing_key WHERE {TWO} AND kind = 'token_pair'"),
    _resolver("model_settle_differs", "UPDATE source SET trust = 99 WHERE source_id = 'src_beta'"),
)
