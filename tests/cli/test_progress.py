"""What commands say of how far they are."""

from srs.cli.progress import describe_run
from srs.engine.state import Progress, Stage


def test_the_stage_before_the_trees_is_told():
    now = Progress(
        n_trees=0,
        n_passes=0.0,
        n_relevant=0,
        n_rounds=0,
        round_ended=False,
        seconds=10.0,
        remaining_seconds=30.0,
        stage=Stage("pairs", 40, 160),
    )
    assert describe_run(now) == (0.25, "looking at all pairs: 40 of 160 blocks, about 30 s left")
