"""From a template and what it shows to a page: everything placed is escaped, and nothing in it may rule the page."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.report.shared.words import printable


def rendered(template: str, **shown: object) -> str:
    """The template, named from this folder, with ``shown`` placed in it."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1]),
        autoescape=True,
        finalize=_placed,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**shown)


def _placed(placed: object) -> object:
    return printable(placed) if type(placed) is str else placed  # markup, a str too, was made by us
