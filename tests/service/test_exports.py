"""Exports of one user wait for each other, not others for them; CSV as pyarrow writes it."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from srs_service.data.tables import read_table
from srs_service.errors import TooMany
from srs_service.jobs.lanes import Lane, LaneSize
from tests.service.server import register, submit, wait_for

N_ROWS = 30_000


def order(path: Path, out: Path, **wanted: object) -> dict:
    plain = {"sort": None, "verdict": [], "search": None, "offset": 0, "limit": None}
    return {
        "path": str(path),
        "out": str(out),
        "form": "csv",
        "encoding": None,
        "search_in": ["name"],
        **plain,
        **wanted,
    }


@pytest.mark.parametrize("n_exports", [20, pytest.param(60, marks=pytest.mark.long)])
def test_exports_of_one_user_make_nobody_else_wait(service, client, n_exports):
    """60 exports are more than there are threads: others must not need one of those."""
    job_id = submit(client, register(client, "small.zarr"))
    wait_for(client, job_id)
    attempt = next((service.folder / "data" / "jobs" / job_id).glob("attempt-*"))
    rows = pq.read_table(attempt / "features.parquet")
    many = pa.concat_tables([rows] * (N_ROWS // rows.num_rows))
    pq.write_table(many, attempt / "features.parquet")
    ended, started = [], threading.Barrier(n_exports + 1)

    def export(_number: int) -> int:
        with service.client() as own:
            started.wait()
            answer = own.get(f"/v1/jobs/{job_id}/features", headers={"Accept": "text/csv"})
        ended.append(answer.status_code)
        return answer.text.count("\n")

    with ThreadPoolExecutor(n_exports) as pool, service.client(service.new_key("bob")) as bob:
        lines = [pool.submit(export, number) for number in range(n_exports)]
        started.wait()
        while not ended:
            pass  # all have arrived by now, and the first has its file
        own = bob.post("/v1/datasets", json={"name": "b", "store": "small.zarr"})
        assert own.status_code == 201
        request = {"dataset_id": own.json()["id"], "settings": {"memory": "512MB"}}
        assert bob.post("/v1/jobs:plan", json=request).status_code == 200
        assert bob.get("/v1/jobs").json()["items"] == []
        n_ended = len(ended)
        assert {found.result() for found in lines} == {many.num_rows + 1}
    assert set(ended) == {200}
    assert n_ended < n_exports - n_exports // 5, "others waited for the exports"
    assert not list((service.folder / "data" / "exports").iterdir())


def test_a_lane_serves_who_holds_fewest_places():
    served: list[str] = []

    async def work(lane: Lane, owner: str) -> None:
        async with lane.place(owner):
            served.append(owner)
            await asyncio.sleep(0)

    async def all_at_once() -> None:
        lane = Lane("exports", LaneSize(total=2, per_user=1))
        await asyncio.gather(*(work(lane, "ann") for _ in range(10)), work(lane, "bob"))
        assert (lane.n_held, lane.n_waiting) == (0, 0)

    asyncio.run(all_at_once())
    assert served.index("bob") <= 1
    assert served.count("ann") == 10


def test_who_waits_too_long_or_goes_away_leaves_no_trace():
    async def try_out() -> None:
        lane = Lane("exports", LaneSize(total=1, per_user=1), patience=0.01)
        async with lane.place("ann"):
            with pytest.raises(TooMany, match="too many exports"):
                async with lane.place("bob"):
                    pass
            waiting = asyncio.ensure_future(lane.place("bob").__aenter__())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert (lane.n_held, lane.n_waiting) == (1, 0)
        async with lane.place("bob"):
            assert lane.n_held == 1

    asyncio.run(try_out())


@pytest.mark.parametrize("sort", [None, "feature_id"], ids=["streamed", "sorted"])
@pytest.mark.parametrize("encoding", [None, "gzip", "zstd"])
def test_cells_of_a_csv_file(tmp_path, sort, encoding):
    table = pa.table(
        {
            "feature_id": pa.array([0, 1, 2], pa.int32()),
            "name": ["=1+1", 'say "a,b"\nc', None],
            "p_value": [0.1, 1e-300, float("nan")],
            "relevant": [True, False, None],
            "classes": pa.array([["a"], [], None], pa.list_(pa.string())),
            "verdict": pa.array(["X", "Y", "X"]).dictionary_encode(),
            "-odd": [1.5, -2.5, None],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    out = tmp_path / "out"
    asked = order(tmp_path / "t.parquet", out, sort=sort, encoding=encoding)
    assert read_table(asked) == {"n_total": 3}
    if encoding == "gzip":
        text = gzip.decompress(out.read_bytes()).decode()
    elif encoding == "zstd":
        with pa.input_stream(str(out), compression="zstd") as stream:
            text = stream.read().decode()
    else:
        text = out.read_text()
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [
        ["feature_id", "name", "p_value", "relevant", "classes", "verdict", "'-odd"],
        ["0", "'=1+1", "0.1", "true", '["a"]', "X", "1.5"],
        ["1", 'say "a,b"\nc', "1e-300", "false", "[]", "Y", "-2.5"],
        ["2", "", "nan", "", "", "X", ""],
    ]


def test_filters_hold_in_a_streamed_file(tmp_path):
    names = [f"f{i}" for i in range(120_000)]  # three parts
    verdicts = np.where(np.arange(120_000) % 3 == 0, "RELEVANT", "IRRELEVANT")
    pq.write_table(pa.table({"name": names, "verdict": verdicts}), tmp_path / "t.parquet")
    asked = order(tmp_path / "t.parquet", tmp_path / "out", verdict=["RELEVANT"], search="f9")
    expected = [n for i, n in enumerate(names) if i % 3 == 0 and n.startswith("f9")]
    assert read_table(asked) == {"n_total": len(expected)}
    rows = list(csv.reader(io.StringIO((tmp_path / "out").read_text())))
    assert [row[0] for row in rows[1:]] == expected


def test_files_are_compressed_for_who_takes_them_so(client):
    job_id = submit(client, register(client, "small.zarr"))
    wait_for(client, job_id)
    path, seen = f"/v1/jobs/{job_id}/features", set()
    for taken, encoding in (("gzip", "gzip"), ("identity", None), ("br, zstd", "zstd")):
        headers = {"Accept": "text/csv", "Accept-Encoding": taken}
        with client.stream("GET", path, headers=headers) as answer:
            assert answer.headers.get("content-encoding") == encoding
            assert "Accept-Encoding" in answer.headers["vary"]
            if encoding != "zstd":  # httpx reads it only with another package
                answer.read()
                seen.add(answer.text)
    assert len(seen) == 1
