"""API keys and names in Kafka's spelling (``EndTxn`` is 26), and the versions that kio has schemas for.

kio's index spells names in snake case (``end_txn``); Kafka's own are the same words in capitals (Kafka's ``ApiKeys``).
"""

from functools import cache

from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType


@cache
def name_of(key: int) -> str:
    """The API's name; ``Api93`` for a key that kio does not know, so that a newer broker's offer can still be read.

    >>> name_of(26), name_of(9999)
    ('EndTxn', 'Api9999')
    """
    if key not in api_key_map:
        return f"Api{key}"
    return "".join(word.capitalize() for word in api_key_map[key].split("_"))


@cache
def key_of(api: str) -> int:
    """The API's key; :raises KeyError: when kio knows no API of that name.

    >>> key_of("AddPartitionsToTxn")
    24
    """
    return {name_of(key): key for key in api_key_map}[api]


@cache
def known_versions(api: str) -> tuple[int, ...]:
    """The versions that kio has a request schema for, ascending; :raises KeyError: for an unknown API.

    >>> known_versions("WriteTxnMarkers")
    (1, 2)
    """
    by_version = schema_name_map[api_key_map[key_of(api)]]
    return tuple(sorted(version for version, types in by_version.items() if EntityType.request in types))
