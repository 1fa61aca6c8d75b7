"""An answer with another error code or other fields: what is changed, and that the rest is not."""

from harness.base.json_value import Json
from harness.wire.api_names import key_of
from harness.wire.codec.answer_rewrite import AnswerRewrite, innermost_errors
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import RequestHeader, make_response


def answer(api: str, version: int, **fields: object) -> object:
    """A body of that answer."""
    return make_response(RequestHeader(key_of(api), version, 1, "who", 10), **fields)


VERIFIED = answer(
    "AddPartitionsToTxn",
    5,
    error_code=0,
    results_by_transaction=(
        {
            "transactional_id": "t",
            "topic_results": (
                {
                    "name": "x",
                    "results_by_partition": (
                        {"partition_index": 0, "partition_error_code": 0},
                        {"partition_index": 1, "partition_error_code": 48},
                    ),
                },
            ),
        },
    ),
)
ENDED = answer("EndTxn", 5, error_code=0, producer_id=7, producer_epoch=3)


def test_the_innermost_codes_are_replaced() -> None:
    lied = AnswerRewrite(error=14).of(VERIFIED)
    assert innermost_errors(lied) == (14, 14)
    assert ResponseFields(lied).error() == 0


def test_a_code_that_is_named_is_replaced_and_others_are_not() -> None:
    assert innermost_errors(AnswerRewrite(error=0, instead_of=48).of(VERIFIED)) == (0, 0)
    assert AnswerRewrite(error=0, instead_of=47).of(VERIFIED) is VERIFIED


def test_a_field_is_set_where_it_stands() -> None:
    lied = AnswerRewrite(fields={"error_code": 31, "results_by_transaction": []}).of(VERIFIED)
    assert (ResponseFields(lied).error(), ResponseFields(lied).parts("results_by_transaction")) == (31, ())
    assert innermost_errors(lied) == (31,)


def test_parts_are_given_with_all_of_their_fields() -> None:
    level: Json = {"name": "transaction.version", "max_version_level": 2, "min_version_level": 1}
    lied = AnswerRewrite(fields={"finalized_features": [level]}).of(answer("ApiVersions", 4, error_code=0, api_keys=()))
    (part,) = ResponseFields(lied).parts("finalized_features")
    assert (part.text("name"), part.number("max_version_level")) == ("transaction.version", 2)


def test_a_number_is_shifted() -> None:
    assert ResponseFields(AnswerRewrite(shift={"producer_epoch": -1}).of(ENDED)).number("producer_epoch") == 2


def test_what_says_so_already_stays_the_same_object() -> None:
    assert AnswerRewrite(error=0, fields={"producer_id": 7}).of(ENDED) is ENDED
