"""KIP890-CFG-01: ``transaction.partition.verification.enable`` exists and is true unless somebody sets it.

The KIP adds the setting and "for now the default will be true". That it may be changed while the broker runs is Kafka's
(KIP890-CFG-02). Releases before 3.6 do not have it.
"""

from harness.contract import Evidence, NotSeen, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.doctored import evidence, step
from harness.contract.refuters import VERIFICATION, Liar, Release, Setting
from harness.lab import Lab

DEFAULT_CONFIG = 5
"""Kafka's ``ConfigEntry.ConfigSource.DEFAULT_CONFIG``."""


def stimulus(lab: Lab) -> None:
    """Every broker is asked for the setting."""
    for broker in lab.cluster.topology.brokers:
        lab.described_setting(broker, VERIFICATION, as_="setting")


def check(seen: Evidence) -> Observations:
    """It is there, true by default, and not read-only."""
    for step_ in seen.all("setting"):
        if step_.error != 0:
            raise NotSeen("DescribeConfigs was refused")
        configs, origins, fixed = (step_.fields.get(name) for name in ("configs", "origins", "read_only"))
        known = isinstance(configs, dict) and VERIFICATION in configs
        yield expect.unless(known, "the broker has the setting", step_, otherwise="switch-missing")
        if isinstance(configs, dict) and known and isinstance(origins, dict) and isinstance(fixed, dict):
            found = (configs[VERIFICATION], origins.get(VERIFICATION))
            yield expect.agree("value and origin", found, ("true", DEFAULT_CONFIG), step_, otherwise="wrong-default")
            changeable = expect.agree("read-only", fixed.get(VERIFICATION), False, step_, otherwise="switch-read-only")
            yield expect.habit(changeable)


def _setting(value: str = "true", origin: int = DEFAULT_CONFIG, *, fixed: bool = False) -> Evidence:
    fields = {"configs": {VERIFICATION: value}, "origins": {VERIFICATION: origin}, "read_only": {VERIFICATION: fixed}}
    return evidence(step("setting", "DescribeConfigs", 4, **fields))  # type: ignore[arg-type]


GOOD = _setting()

REQUIREMENT = Requirement(
    id="KIP890-CFG-01",
    source=Source(890, "Configurations"),
    statement="transaction.partition.verification.enable exists and is true by default.",
    needs=(Offers("DescribeConfigs", 1),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("switch-missing", GOOD.with_step("setting", configs={}, origins={}, read_only={})),
        Refusal("wrong-default", _setting("false")),
        Refusal("wrong-default", _setting("true", 4)),
        Refusal("switch-read-only", _setting(fixed=True)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="switch-missing"),
        Setting(key=VERIFICATION, value="false", anomaly="wrong-default"),
        Liar(api="DescribeConfigs", fields={"read_only": True}, anomaly="switch-read-only"),
    ),
)
