"""Every value of every item leads to bytes: its hash, its place and its derivation are checked again from the store."""

from assay_cli.captures import find_pages, hand_in, source_of
from assay_cli.commands.output import rows_of
from assay_cli.demo import TENANTS, demo_folder
from assay_cli.explaining import verify_lineage
from assay_cli.tenancy import provide

from .conftest import Open
from .shop import CATALOG


def test_every_attribute_of_every_demo_item_leads_to_bytes(open_shop: Open) -> None:
    for tenant_id, folder in TENANTS.items():
        shop = open_shop(tenant_id)
        pages = list(find_pages(demo_folder() / folder))
        provide(shop.stack.installation, tenant_id, CATALOG, [source_of(page) for page in pages])
        receipts = [hand_in(shop.client, page, CATALOG, source_of(page)) for page in pages]
        for receipt in receipts:
            assert shop.ended(receipt)["state"] == "done"
        items = shop.items()
        assert len(items) >= 20
        for item in items:
            found = shop.client.get("resolver", f"/v1/items/{item['item_id']}/lineage", catalog=CATALOG)
            values = rows_of(found["attributes"])
            verdicts = verify_lineage(shop.client, values)
            assert verdicts and all(rows_of(value["support"]) for value in values)
            assert [fact for fact, verdict in verdicts.items() if not verdict.holds] == []
            receipt_ids = {fact["receipt_id"] for value in values for fact in rows_of(value["support"])}
            assert receipt_ids <= {receipt["receipt_id"] for receipt in receipts}
