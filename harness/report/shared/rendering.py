"""Renders a template: every value is escaped, and control characters in it are made visible."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.report.shared.words import printable


def rendered(template: str, **values: object) -> str:
    """The template, by its path below ``harness/report``, with these values."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1]),
        autoescape=True,
        finalize=_placed,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


def _placed(placed: object) -> object:
    return printable(placed) if type(placed) is str else placed  # Markup, a subclass of str, is our own
