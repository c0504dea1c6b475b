"""`assay contracts`: what a message says, which messages there are, and what a change of them means."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from assay_contracts import changes as change
from assay_contracts.asyncapi import asyncapi_bytes
from assay_contracts.decoder import DOCUMENTS, check_key, decode, decode_document
from assay_contracts.envelope import Envelope
from assay_contracts.errors import InvalidMessage, UnknownContract
from assay_contracts.messages import Message, Payload
from assay_contracts.reference import reference
from assay_contracts.schema import PARTS, SCHEMAS
from assay_contracts.topics import TOPICS, Topic
from assay_contracts.usage import usage_of
from rich.console import Console
from rich.text import Text

from assay_cli.commands.failures import in_words
from assay_cli.commands.output import AsJson, print_json, show_pairs, table_of
from assay_cli.contract_files import Checkout
from assay_cli.errors import CommandError

contracts = typer.Typer(help="Messages: read one, list them, judge a change of them.", no_args_is_help=True)

_FILES = typer.Argument(exists=True, dir_okay=False, help="One message each; without any, standard input.")
_TOPIC = typer.Option(help="The topic whose messages these are, without an installation's prefix.")
_SCHEMA = typer.Option(help="Instead of a topic: the schema of a document without an envelope, such as capture.v1.")
_KEY = typer.Option(help="The Kafka key, which must name the message's tenant.")


@contracts.command(name="decode")
@in_words
def decode_files(
    files: Annotated[list[Path] | None, _FILES] = None,
    topic: Annotated[str, _TOPIC] = "",
    schema: Annotated[str, _SCHEMA] = "",
    key: Annotated[str | None, _KEY] = None,
    as_json: AsJson = False,
) -> None:
    """Read messages as every process does; exits 1 if one is refused, and tells reason, place and why."""
    if bool(topic) == bool(schema) or (schema and key is not None):
        raise CommandError("say what the bytes are: --topic TOPIC, or --schema NAME for a document without an envelope")
    named = [(str(file), file.read_bytes()) for file in files or ()]
    read = [(name, _read(topic, schema, key, data)) for name, data in named or [("-", _standard_input())]]
    if as_json:
        print_json([_as_document(name, outcome) for name, outcome in read])
    else:
        for name, outcome in read:
            _show(name, outcome)
    if any(isinstance(outcome, InvalidMessage) for _, outcome in read):
        raise typer.Exit(1)


def _standard_input() -> bytes:
    return typer.get_binary_stream("stdin").read()


def _read(topic: str, schema: str, key: str | None, data: bytes) -> Message | Envelope[Payload] | InvalidMessage:
    try:
        if schema or _stands_alone(topic):
            return decode_document(schema or topic, data)
        envelope = decode(topic, data)
        if key is not None:
            check_key(topic, key.encode(), envelope.payload)
    except InvalidMessage as refusal:
        return refusal
    except UnknownContract as unknown:
        raise CommandError(f"{unknown}; `assay contracts list` shows what there is") from None
    return envelope


def _stands_alone(topic: str) -> bool:
    return topic in TOPICS and TOPICS[topic].message in DOCUMENTS


def _as_document(name: str, outcome: Message | Envelope[Payload] | InvalidMessage) -> dict[str, Any]:
    if isinstance(outcome, InvalidMessage):
        refused = {"reason": outcome.reason, "pointer": outcome.pointer, "text": outcome.text}
        return {"file": name, "message": None, "refused": refused}
    return {"file": name, "message": outcome.model_dump(mode="json"), "refused": None}


def _show(name: str, outcome: Message | Envelope[Payload] | InvalidMessage) -> None:
    if isinstance(outcome, InvalidMessage):
        told = Text("✗ ", style="bold red").append(f"{name}: {outcome}", style="default not bold")
        Console(stderr=True).print(told, soft_wrap=True)
        return
    message = outcome.payload if isinstance(outcome, Envelope) else outcome
    Console().print(Text(name, style="bold").append(f" is a {type(message).__name__}", style="default not bold"))
    if isinstance(outcome, Envelope):
        show_pairs(outcome.model_dump(mode="json", exclude={"payload"}))
    show_pairs(message.model_dump(mode="json"))


@contracts.command(name="list")
@in_words
def list_contracts(as_json: AsJson = False) -> None:
    """Every schema with where it is spoken, and every topic."""
    schemas = [{"schema": name, "spoken": usage_of(name).replace("`", "")} for name in (*SCHEMAS, *PARTS)]
    topics = [_topic_row(topic) for topic in TOPICS.values()]
    if as_json:
        print_json({"schemas": schemas, "topics": [topic.model_dump(mode="json") for topic in TOPICS.values()]})
        return
    Console().print(table_of("schemas", schemas))
    Console().print(table_of("topics", topics))


def _topic_row(topic: Topic) -> dict[str, Any]:
    days = "for ever" if topic.retention_ms == -1 else f"{topic.retention_ms / 86_400_000:g} days"
    return {
        "topic": topic.name,
        "message": topic.message or "untouched",
        "key": topic.key,
        "partitions": topic.partitions,
        "bytes": topic.max_bytes,
        "kept": days,
        "owner": topic.owner,
    }


@contracts.command(name="diff")
@in_words
def diff(
    revision: Annotated[
        str, typer.Argument(help="A git revision; without one, the last release, else the commit before.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Judge what changed in schemas and topics since a commit; exits 1 if a release has promised it otherwise."""
    checkout = Checkout(Path.cwd())
    since = revision or checkout.last_release_or_parent()
    if since is None:
        found: list[change.Change] = []
    else:
        before, after = (change.read_contracts(files) for files in (checkout.at(since), checkout.now()))
        found = change.changes(before, after)
    if as_json:
        rows = [{**asdict(one), "breaking": one.breaking, "forbidden": one.forbidden} for one in found]
        print_json({"since": since, "changes": rows, "order": change.order_of(found), "rules": change.RULES})
    else:
        _show_changes(since, found)
    if any(one.forbidden for one in found):
        raise typer.Exit(1)


def _show_changes(since: str | None, found: list[change.Change]) -> None:
    console = Console()
    if not found:
        words = f"No contract has changed since {since}." if since else "No earlier commit is here to compare with."
        console.print(words, highlight=False)
        return
    rows = [{**asdict(one), "published": "yes" if one.published else "no"} for one in found]
    console.print(table_of(f"{len(found)} changes since {since}", rows))
    console.print("\n".join(change.RULES), highlight=False)
    console.print(f"Roll out: {change.ORDERS[change.order_of(found)]}.", highlight=False, soft_wrap=True)
    breaking, forbidden = (sum(getattr(one, word) for one in found) for word in ("breaking", "forbidden"))
    if forbidden:
        console.print(
            f"[bold red]{forbidden} of {breaking} breaking changes are of contracts that a release promised.[/]"
        )
    elif breaking:
        console.print(f"{breaking} breaking changes, of contracts that no release has promised yet.", highlight=False)


@contracts.command(name="reference", hidden=True)
@in_words
def write_reference(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if a file is not as it would be.")
    ] = False,
) -> None:
    """Make the documents that are made of schemas and topics: the page and the AsyncAPI document."""
    checkout = Checkout(Path.cwd())
    made = {"messages.md": reference().encode(), "asyncapi.json": asyncapi_bytes()}
    for name, data in made.items():
        path = checkout.path(f"docs/reference/{name}")
        if check and not (path.is_file() and path.read_bytes() == data):
            raise CommandError(
                f"docs/reference/{name} is not what the schemas and topics say now: run `make reference`"
            )
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(contracts, name="contracts")
