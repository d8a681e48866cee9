"""Which kinds of evidence there are: those of this package, and those of entry points.

The group of entry points is `srs.evidence`; each names an `EvidenceKind`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from srs.errors import SettingsError
from srs.evidence.kinds import EvidenceKind
from srs.evidence.peak import PEAK
from srs.evidence.screened import SCREENED
from srs.evidence.used import USED
from srs.plugins import with_plugins

GROUP = "srs.evidence"
BUILT_IN = (USED, SCREENED, PEAK)  # the kernel of trees makes them all, so runs hold them all
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
    """The kinds that a run holds in which these count."""
    return tuple({kind.name: kind for kind in (*BUILT_IN, *map(evidence_kind, names))}.values())


def kinds_of_trees(names: Sequence[str]) -> tuple[EvidenceKind, ...]:
    """Those among them that batches return."""
    return tuple(kind for kind in kinds_held(names) if kind.of_trees is not None)


def weighted_kinds() -> tuple[str, ...]:
    """What counts in runs with sample weights where nothing is said.

    >>> weighted_kinds()
    ('screened', 'peak')
    """
    return tuple(name for name in USUAL if evidence_kind(name).weighted)


def bytes_of(kinds: Iterable[EvidenceKind]) -> int:
    """Bytes that the evidence of a feature, or of a probe, takes."""
    return sum(kind.bytes_per_role for kind in kinds)
