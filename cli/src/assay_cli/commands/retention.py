"""`assay retention`: what is kept of each stream, because of whom, and the explicit acts that let it go."""

from collections.abc import Iterator
from typing import Annotated, cast

import typer
from rich.console import Console

from assay_cli.client import Client, Document, connect_to_relay
from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, Catalog, print_json, rows_of, show_pairs, table_of

retention = typer.Typer(help="What is kept, and who keeps it.", no_args_is_help=True)

Because = Annotated[str, typer.Option("--because", help="Why; kept for ever.")]
Epoch = Annotated[str | None, typer.Option(help="A history epoch; the open one where none is named.")]
TenantId = Annotated[str, typer.Argument(help="Whose stream.")]


@retention.command()
@in_words
def show(
    tenant_id: Annotated[str | None, typer.Argument(help="Whose stream; all streams where none is named.")] = None,
    catalog: Catalog = "cat_main",
    epoch: Epoch = None,
    as_json: AsJson = False,
) -> None:
    """Show what is kept of a stream, why, because of whom and until when; without a tenant, a line for every stream."""
    with connect_to_relay() as client:
        if tenant_id is None:
            found: Document = {"streams": list(_every_stream(client))}
        else:
            found = client.get("relay-api", f"/v1/streams/{tenant_id}/{catalog}/retention", epoch=epoch)
    if as_json:
        print_json(found)
    elif tenant_id is None:
        Console().print(table_of("streams", rows_of(found["streams"])))
    else:
        _print(found)


def _every_stream(client: Client) -> Iterator[Document]:
    """Without digests, which are for programs."""
    after: str | None = ""
    while after is not None:
        page = client.get("relay-api", "/v1/streams", after=after)
        for one in rows_of(page["streams"]):
            yield {name: value for name, value in one.items() if "digest" not in name}
        after = cast("str | None", page["next"])


def _print(found: Document) -> None:
    stream = cast("Document", found["stream"])
    floor, head = stream["floor"], stream["head"]
    held_by = ", ".join(cast("list[str]", found["held_by"])) or "nobody; it goes as it ages"
    show_pairs(
        {
            "stream": f"{stream['tenant_id']} {stream['catalog_id']} {stream['history_epoch']} ({stream['state']})",
            "gone": f"1..{floor}" if floor else "nothing",
            "kept": f"{found['kept']} events up to {head}, of which {stream['published']} are published",
            "held at": f"{found['held_at']} by {held_by}",
            "released by": found["released_by"],
            "keepers": found["keepers"],
        }
    )


@retention.command()
@in_words
def consumers(as_json: AsJson = False) -> None:
    """List who reads the history, the longest silent first."""
    with connect_to_relay() as client:
        found = client.get("relay-api", "/v1/consumers")
    if as_json:
        print_json(found)
    else:
        Console().print(table_of("consumers", rows_of(found["consumers"])))


@retention.command()
@in_words
def unregister(
    name: Annotated[str, typer.Argument(help="A consumer's name, as `assay retention consumers` shows it.")],
    because: Because,
) -> None:
    """Let pruning go on without a consumer: what it has not read may be gone at once, for good."""
    with connect_to_relay() as client:
        client.delete("relay-api", f"/v1/consumers/{name}", because=because)
    Console(stderr=True).print(f"{name} is unregistered. What it has not read may be pruned from now on.")


@retention.command()
@in_words
def release(
    tenant_id: TenantId,
    epoch: Annotated[str, typer.Option(help="A closed history epoch.")],
    because: Because,
    catalog: Catalog = "cat_main",
) -> None:
    """Say that no consumer needs a stream of a closed epoch any more."""
    with connect_to_relay() as client:
        path = f"/v1/streams/{tenant_id}/{catalog}/retention"
        client.delete("relay-api", path, epoch=epoch, because=because)
    Console(stderr=True).print(f"{tenant_id} {catalog} {epoch} is released.")


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(retention, name="retention")
