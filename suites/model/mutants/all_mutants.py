"""Every wrong model."""

from collections.abc import Sequence

from suites.model.mutants.event_mutants import OF_EVENTS
from suites.model.mutants.group_mutants import OF_GROUPS_AND_LISTS
from suites.model.mutants.mutant import Mutant
from suites.model.mutants.producer_mutants import OF_PRODUCERS

MUTANTS: Sequence[Mutant] = (*OF_PRODUCERS, *OF_GROUPS_AND_LISTS, *OF_EVENTS)
