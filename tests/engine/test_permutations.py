"""Which samples change places in probes: within strata, whole subjects, and still a group."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from srs.engine.permutations import KEPT, draw_permutations


@st.composite
def designs(draw):
    """Samples of random strata and subjects, cut into a part to learn from and a held-out one."""
    n = draw(st.integers(1, 40))
    strata = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    subjects = np.array(draw(st.lists(st.integers(0, 8), min_size=n, max_size=n)))
    held_out = subjects < draw(st.integers(0, 4))
    parts = (np.flatnonzero(~held_out), np.flatnonzero(held_out))
    return 1 << draw(st.integers(1, 3)), strata, subjects, parts


def assert_group(permutations):
    n_roles = len(permutations)
    np.testing.assert_array_equal(permutations[0], np.arange(permutations.shape[1]))
    for a in range(n_roles):
        for b in range(n_roles):
            np.testing.assert_array_equal(permutations[a][permutations[b]], permutations[a ^ b])


@given(st.integers(0, 2**32), designs())
def test_samples_change_places_within_strata(seed, design):
    """Guards the null given the confounders, and the exchange of roles (the swap test)."""
    n_roles, strata, _, parts = design
    found = draw_permutations(seed, n_roles, parts, strata)
    assert_group(found.permutations)
    for role in found.permutations:
        np.testing.assert_array_equal(strata[role], strata)
        assert set(role[parts[0]].tolist()) == set(parts[0].tolist())
    assert not len(found.left_out)


@given(st.integers(0, 2**32), designs())
def test_subjects_change_places_as_wholes(seed, design):
    """Guards what belongs together: the probe of a subject has the values of one subject."""
    n_roles, strata, subjects, parts = design
    found = draw_permutations(seed, n_roles, parts, strata, subjects)
    assert_group(found.permutations)
    kept = np.setdiff1d(np.arange(len(strata)), found.left_out)
    for role in found.permutations:
        np.testing.assert_array_equal(strata[role[kept]], strata[kept])
        assert set(role[parts[0]].tolist()) == set(parts[0].tolist())
        for subject in np.unique(subjects[kept]):
            mine = kept[subjects[kept] == subject]
            assert len(np.unique(subjects[role[mine]])) == 1
    assert set(subjects[kept].tolist()) == set(subjects.tolist()), "no subject is left out whole"
    assert len(kept) >= KEPT * len(strata) - 1


def related(n_roles, strata, y, seeds):
    """For each seed and role the correlation, within strata, of y with y as the role sees it."""
    centred = y - np.array([y[strata == c].mean() for c in strata])
    found = []
    for seed in seeds:
        permutations = draw_permutations(seed, n_roles, (np.arange(len(y)),), strata).permutations
        found.append([(centred * centred[role]).mean() / centred.var() for role in permutations])
    return np.array(found)[:, 1:]


def test_probes_of_small_strata_are_not_the_feature_upside_down():
    """Guards pairs of a case and a control: with all pairs exchanged a probe would be the feature
    with its sign turned, and as strong; a random permutation of each pair is uncorrelated."""
    pairs, y = np.repeat(np.arange(100), 2), np.tile([0.0, 1.0], 100)
    threes, z = np.repeat(np.arange(60), 4), np.tile([0.0, 0.0, 1.0, 1.0], 60)
    for n_roles in (2, 4, 8):
        for strata, target in ((pairs, y), (threes, z)):
            r = related(n_roles, strata, target, range(60))
            error = r.mean(axis=1).std() / np.sqrt(60)
            assert abs(r.mean()) < 4 * error + 0.01
            # Each role alone, too: none leaves all strata untouched, none exchanges all.
            assert np.abs(r.mean(axis=0)).max() < 6 * r.std() / np.sqrt(60)


def test_subjects_of_unequal_numbers_of_samples():
    """Guards the rule for sizes: equal ones first, else neighbours in size with few left out."""
    sizes = np.array([100, 101, 103, 104, 50, 51, 7])
    subjects = np.repeat(np.arange(7), sizes)
    n = len(subjects)
    found = draw_permutations(0, 4, (np.arange(n),), np.zeros(n, np.int64), subjects)
    assert np.bincount(subjects[found.left_out], minlength=7).tolist() == [0, 1, 3, 4, 0, 1, 0]
    moved = (found.permutations != np.arange(n)).any(axis=0)
    assert not moved[subjects == 6].any()  # no other is of that size
    assert found.n_moved == moved.sum()
    equal = np.repeat(np.arange(50), 3)
    found = draw_permutations(0, 8, (np.arange(150),), np.zeros(150, np.int64), equal)
    assert not len(found.left_out)
    assert found.n_moved == 150
