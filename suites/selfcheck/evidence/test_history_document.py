"""reports/HISTORY.md is the contract with who writes histories: it says what the code does, table by table."""

import json
import re

import pytest

from harness.base.paths import ROOT
from harness.evidence.history.history_journal import CHAOS_FORMAT, REQUIRED, TABLES
from harness.evidence.history.operation import NEEDED, VERBS
from harness.evidence.json_codec import from_json
from harness.spark.history.table_schema import Field, table_fields

TEXT = (ROOT / "reports" / "HISTORY.md").read_text(encoding="utf-8")


def section(table: str) -> str:
    """What the page says of a table."""
    return TEXT.partition(f"\n### {table}\n")[2].partition("\n### ")[0].partition("\n**What each verb")[0]


def documented(field: Field) -> tuple[str, str, str]:
    """A column as the page must tell it: name, type, whether it must be there."""
    must = "yes" if field.required else "no: null" if field.default is None else f"no: `{json.dumps(field.default)}`"
    return field.name, {"bigint": "LONG"}.get(kind := field.type.simpleString(), kind.upper()), must


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_documented_with_its_type(table: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]+) \|", section(table), re.MULTILINE)
    assert [(name, kind, must.strip()) for name, kind, must in rows] == [
        documented(field) for field in table_fields(table)
    ]


@pytest.mark.parametrize("table", TABLES)
def test_every_value_that_a_column_may_have_is_documented(table: str) -> None:
    lines = {line.split("`")[1]: line for line in section(table).splitlines() if line.startswith("| `")}
    for field in table_fields(table):
        assert [word for word in field.allowed if f"`{word}`" not in lines[field.name]] == []


@pytest.mark.parametrize("table", TABLES)
def test_the_example_of_a_table_is_a_line_of_it(table: str) -> None:
    (example,) = re.findall(r"```json\n(.*?)\n```", section(table), re.DOTALL)
    assert type(from_json(TABLES[table], example)) is TABLES[table]


def test_what_each_verb_needs_is_documented() -> None:
    part = TEXT.partition("**What each verb needs**")[2].partition("## A history by hand")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", part, re.MULTILINE)
    assert [(verb, tuple(re.findall(r"`(\w+)`", needs))) for verb, needs in rows] == [
        (verb, NEEDED.get(verb, ())) for verb in VERBS
    ]


def test_the_version_and_the_required_tables_are_documented() -> None:
    assert f'"format": {CHAOS_FORMAT}' in TEXT
    assert f"version {CHAOS_FORMAT}." in TEXT
    assert ", ".join(f"`{table}`" for table in REQUIRED[:-1]) + f" and `{REQUIRED[-1]}` must be there" in TEXT
