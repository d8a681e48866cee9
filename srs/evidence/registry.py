"""Which kinds of evidence there are: those of this package, and those of entry points.

The group of entry points is `srs.evidence`; each names an `EvidenceKind`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from srs.errors import SettingsError
from srs.evidence.kinds import EvidenceKind
from srs.evidence.pairs.kind import PAIRS
from srs.evidence.peak import PEAK
from srs.evidence.screened import SCREENED
from srs.evidence.univariate.kind import UNIVARIATE
from srs.evidence.used import USED
from srs.plugins import with_plugins

if TYPE_CHECKING:
    from srs.settings import Settings

GROUP = "srs.evidence"
BUILT_IN = (USED, SCREENED, PEAK, UNIVARIATE, PAIRS)
MOST_HALVED = 2_000_000  # features, of which the halves of the trees are held
USUAL = tuple(kind.name for kind in BUILT_IN if kind.usual)  # what counts where nothing is said


@cache
def evidence_kinds() -> dict[str, EvidenceKind]:
    """All kinds by name."""
    return {kind.name: kind for kind in with_plugins(GROUP, BUILT_IN)}


def evidence_kind(name: str) -> EvidenceKind:
    """The kind of this name; a SettingsError says which there are.

    >>> evidence_kind("peak").merge
    'maximum'
    """
    try:
        return evidence_kinds()[name]
    except KeyError:
        known = ", ".join(evidence_kinds())
        raise SettingsError(f"there is no evidence {name!r}; choose from {known}.") from None


def kinds_held(names: Sequence[str]) -> tuple[EvidenceKind, ...]:
    """The kinds that a run holds in which these count; the kernel makes all of trees."""
    of_trees = (kind for kind in BUILT_IN if kind.of_trees is not None)
    return tuple({kind.name: kind for kind in (*of_trees, *map(evidence_kind, names))}.values())


def kinds_of_trees(names: Sequence[str]) -> tuple[EvidenceKind, ...]:
    """Those among them that batches return."""
    return tuple(kind for kind in kinds_held(names) if kind.of_trees is not None)


def weighted_kinds() -> tuple[str, ...]:
    """What counts in runs with sample weights where nothing is said.

    >>> weighted_kinds()
    ('screened', 'peak', 'univariate', 'pairs')
    """
    return tuple(name for name in USUAL if evidence_kind(name).weighted)


def bytes_of(kinds: Iterable[EvidenceKind]) -> int:
    """Bytes that the evidence of a feature, or of a probe, takes in a batch."""
    return sum(kind.bytes_per_role for kind in kinds)


def held_bytes(kinds: Iterable[EvidenceKind], n_roles: int) -> int:
    """Bytes that the evidence of a feature and its probes takes in the loop."""
    return sum(kind.held_bytes(n_roles) for kind in kinds)


def has_halves(n_features: int, n_roles: int) -> bool:
    """Whether a run holds the halves of its trees (`srs.evidence.halves`): paper mode has none, and
    of many features they would take as much memory as all else."""
    return n_roles > 1 and n_features <= MOST_HALVED


def halves_bytes(kinds: Sequence[str], n_features: int, n_roles: int) -> int:
    """Bytes that the halves of the trees take besides for a feature.

    >>> halves_bytes(("used", "screened", "peak"), 1_000_000, 2)
    36
    """
    if not has_halves(n_features, n_roles):
        return 0
    of_trees = kinds_of_trees(kinds)
    n_bytes = sum(kind.bytes_per_role * (1 + (kind.merge == "maximum")) for kind in of_trees)
    return n_bytes * n_roles + 4


def taking_part(
    settings: Settings, n_features: int, n_samples: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The kinds that count in a run, and why others that were asked for do not."""
    reasons = {
        name: evidence_kind(name).sits_out(settings, n_features, n_samples)
        for name in settings.evidence
    }
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    return tuple(name for name in settings.evidence if name not in left_out), left_out


def with_probes(names: Iterable[str]) -> tuple[str, ...]:
    """Those among the kinds whose null is what probes show."""
    return tuple(name for name in names if not evidence_kind(name).has_p_values)
