"""A wrong in the product database for each rule that it can answer by itself."""

from .seed import Seed

TWO = "tenant_id = 'ten_two'"


def _seed(rule: str, statements: str, *also: str) -> Seed:
    return Seed("product", rule, product=statements, also=also)


SEEDS = (
    _seed("i7_progress_not_contiguous", f"DELETE FROM inbox WHERE {TWO} AND position = 1", "i7_counts_differ"),
    _seed("i7_counts_differ", f"UPDATE cursor SET highest = highest + 1 WHERE {TWO}"),
    _seed(
        "i7_parked_and_processed",
        "INSERT INTO parked SELECT tenant_id, catalog_id, generation, position, event_id, 'x', 'data' FROM inbox"
        f" WHERE {TWO} AND position = 1",
    ),
    _seed(
        "i7_hole_with_nothing_parked",
        f"UPDATE cursor SET progress = progress - 1 WHERE {TWO}",
        "i7_progress_digest_differs",
    ),
    _seed(
        "i9_not_one_live_generation",
        f"UPDATE generation SET state = 'old' WHERE {TWO}",
        "i3_event_passed_without_trace",
    ),
    _seed(
        "i9_row_of_no_generation",
        "INSERT INTO item SELECT tenant_id, catalog_id, 7, item_id, state, merged_into, because, revision, position,"
        f" decision_id, occurred_at FROM item WHERE {TWO}",
    ),
    _seed("i11_table_not_fenced", "ALTER TABLE parked DISABLE ROW LEVEL SECURITY"),
    _seed("i11_policy_not_as_listed", "CREATE POLICY for_all ON parked USING (true)"),
    _seed("i11_policy_not_as_listed", "ALTER POLICY every_tenant ON parked TO assay_checker, assay_product_api"),
    _seed(
        "i11_evidence_of_another_tenant",
        f"UPDATE mapping SET evidence = replace(evidence, '/ten_two/', '/ten_one/') WHERE {TWO}",
        "i7_projection_shows_another_value",
    ),
    _seed(
        "i14_value_without_evidence",
        f"UPDATE attribute SET evidence = '[]' WHERE {TWO} AND name = 'brand'",
        "i7_projection_shows_another_value",
    ),
    _seed(
        "i14_mapping_without_evidence",
        f"UPDATE mapping SET evidence = '[]' WHERE {TWO}",
        "i7_projection_shows_another_value",
    ),
    _seed("i15_stream_halted", f"UPDATE cursor SET halted = 'position 1 is another event' WHERE {TWO}"),
    _seed("model_constraint_not_enforced", "ALTER TABLE parked DROP CONSTRAINT parked_event_once"),
)
