"""What the library reads, the service reads: every format, with all options, to the same store."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import srs
from srs.client import Client
from srs.errors import ServiceError, SourceError, SRSError
from srs.ingest.formats.registry import stored_formats
from srs_service.data.wording import name_options
from tests.ingest.formats.examples import DOSAGES, EXAMPLES, FRAME, VALUES
from tests.ingest.formats.toy import install_toy, write_bars
from tests.service.server import Server
from tests.service.test_hostile import check_problem

ALL = [(one.name, kind) for one in stored_formats() for kind in EXAMPLES[one.name]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service beside a distribution with a format of its own."""
    site = install_toy(tmp_path_factory.mktemp("site"))
    roots = tmp_path_factory.mktemp("roots")
    server = Server(tmp_path_factory.mktemp("service"), site=site, store_roots=roots)
    try:
        yield server.start()
    finally:
        server.stop()


@pytest.fixture(scope="module")
def client(service: Server) -> Iterator[Client]:
    with Client(service.url, service.key) as opened:
        yield opened


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_every_format_is_read(client: Client, tmp_path: Path, name: str, kind: str):
    source, _ = EXAMPLES[name][kind](tmp_path)
    sent = client.datasets.upload(source).wait(timeout=120)
    here = srs.ingest(source)
    assert (sent.n_features, sent.n_samples) == (here.n_features, here.n_samples)
    assert sent.document["fingerprint"] == here.fingerprint


def test_all_options_arrive(client: Client, tmp_path: Path):
    bed, _ = EXAMPLES["plink"]["bed"](tmp_path)
    lines = [f"{one}\t{'uv'[i % 2]}\t{i}\tclinic {i % 3}" for i, one in enumerate(FRAME.index)]
    (tmp_path / "p.tsv").write_text("who\tcase\tage\tsite\n" + "\n".join(lines[1:]) + "\n")
    (tmp_path / "names.txt").write_text("".join(f"rs{i}\n" for i in range(6)))
    given: dict[str, Any] = {
        "table": tmp_path / "p.tsv",
        "covariates": ["age"],
        "id_column": "who",
        "names": tmp_path / "names.txt",
        "target_kind": "classes",
    }
    sent = client.datasets.upload(bed, "case", sample_columns=["site"], **given).wait(timeout=120)
    here = srs.ingest(bed, target={"case": "case", "site": "site"}, **given)
    assert sent.document["fingerprint"] == here.fingerprint
    assert (sent.n_features, sent.n_samples) == (7, 13)
    assert [target["name"] for target in sent.targets] == ["case", "site"]


def test_files_beside_others_arrive(service: Server, client: Client, tmp_path: Path):
    """What may be left out, and what stands for a companion."""
    pgen, _ = EXAMPLES["pgen"]["pgen"](tmp_path)
    here = srs.ingest(pgen).fingerprint
    with pa.output_stream(str(tmp_path / "x.pvar.zst"), compression="zstd") as packed:
        packed.write(pgen.with_suffix(".pvar").read_bytes())
    pgen.with_suffix(".pvar").unlink()
    sent = client.datasets.upload(pgen).wait(timeout=120)
    assert sent.document["fingerprint"] == here
    bgen, _ = EXAMPLES["bgen"]["bgen"](tmp_path)
    lines = [f"0 {one} 0 {20 + i % 3}.5" for i, one in enumerate(FRAME.index)]
    bgen.with_suffix(".sample").write_text("ID_1 ID_2 missing bmi\n0 0 0 P\n" + "\n".join(lines))
    sent = client.datasets.upload(bgen, "bmi", target_kind="numbers").wait(timeout=120)
    assert [target["name"] for target in sent.targets] == ["bmi"]
    for file in (pgen.with_suffix(".psam"), tmp_path / "x.pvar.zst"):
        file.unlink()
        with pytest.raises(SourceError, match=r"missing: x\.pgen, x\.pvar"):
            client.datasets.upload(pgen)
    with service.client() as http:
        listed = {one["name"]: one for one in http.get("/v1/formats").json()["items"]}
    assert (listed["pgen"]["beside"], listed["bgen"]["beside"]) == ([".pvar.zst"], [".sample"])


def test_masks_and_names_of_arrays_arrive(client: Client, tmp_path: Path):
    import h5py
    import nibabel

    images, _ = EXAMPLES["nifti"]["folder"](tmp_path)
    inside = np.array([1, 0, 0, 1, 1, 0], np.uint8).reshape(1, 2, 3, order="F")
    nibabel.save(nibabel.Nifti1Image(inside, np.eye(4)), tmp_path / "mask.nii.gz")
    sent = client.datasets.upload(images, mask=tmp_path / "mask.nii.gz").wait(timeout=120)
    assert (sent.n_features, sent.n_samples) == (3, 14)
    several = sorted(images.iterdir())
    assert client.datasets.upload(several).wait(timeout=120).n_features == 6
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["a"], file["b"] = VALUES, DOSAGES[:, :3]
    sent = client.datasets.upload(tmp_path / "two.h5", dataset="/b").wait(timeout=120)
    assert sent.n_features == 3
    with pytest.raises(SRSError, match="leave out the orientation"):
        client.datasets.upload(images, orientation="features").wait(timeout=120)


def test_files_that_are_no_source_together(client: Client, tmp_path: Path):
    np.save(tmp_path / "a.npy", VALUES)
    np.save(tmp_path / "b.npy", VALUES)
    with pytest.raises(SRSError, match="do not form a source"):
        client.datasets.upload([tmp_path / "a.npy", tmp_path / "b.npy"]).wait(timeout=120)
    bed, _ = EXAMPLES["plink"]["bed"](tmp_path)
    bed.with_suffix(".fam").unlink()
    with pytest.raises(
        SourceError, match=r"^the file x.fam is missing: x.bed, x.bim, x.fam belong tog"
    ):
        client.datasets.upload(bed)


def test_companions_that_are_missing_are_refused_at_once(
    service: Server, client: Client, tmp_path: Path
):
    """When the request is made, by the names of the user; in an archive as soon as it is opened."""
    root = Path(service.env["SRS_STORE_ROOTS"])
    bed, _ = EXAMPLES["plink"]["bed"](tmp_path)
    given = {suffix: bed.with_suffix(suffix) for suffix in (".bed", ".bim", ".fam")}
    files = [given[".bed"], given[".fam"]]
    (root / "half.bed").write_bytes(bed.read_bytes())
    (root / "half.fam").write_bytes(given[".fam"].read_bytes())
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for file in files:
            archive.write(file, f"in/{file.name}")
    with service.client() as http:

        def send(file: Path) -> dict[str, str]:
            sent = http.post(
                "/v1/uploads", params={"filename": file.name}, content=file.read_bytes()
            )
            return {"upload_id": sent.json()["id"]}

        for source, said in (
            ({"file": send(given[".bed"])}, "x.bim, x.fam are missing: x.bed, x.bim, x.fam belong"),
            ({"file": send(given[".bim"])}, "x.bed, x.fam are missing: "),
            (
                {"files": [send(file) for file in files]},
                "x.bim is missing: .* give them as `files`",
            ),
            ({"file": {"url": "https://93.184.216.34/a/x.bed"}}, "x.bim, x.fam are missing: "),
            ({"file": {"path": "half.bed"}}, "half.bim is missing: .* put them into one folder"),
        ):
            answer = http.post("/v1/datasets", json={"name": "x", "source": source})
            assert answer.status_code == 422
            assert re.search(said, answer.json()["detail"])
            assert str(root) not in answer.text
    with pytest.raises(SRSError, match=r"x.bim is missing: x.bed, x.bim, x.fam bel") as caught:
        client.datasets.upload(tmp_path / "x.zip").wait(timeout=120)
    assert "unpacked" not in str(caught.value)


def test_sentences_name_options_as_requests_do(client: Client, tmp_path: Path):
    """Those of the library name them as the shell does, too."""
    bed, _ = EXAMPLES["plink"]["bed"](tmp_path)
    with pytest.raises(SRSError, match=r"give others in a table \(`table`\)"):
        client.datasets.upload(bed, "colour").wait(timeout=120)
    told = "ingest with --sample-column site (--table); 'a--b --x' stays"
    assert name_options(told) == "ingest with `sample_columns` site (`table`); 'a--b --x' stays"


def test_companions_may_not_be_links(service: Server, client: Client, tmp_path: Path):
    """Guards files of others: the .bim of a path that is open could lead to one that is not."""
    root = Path(service.env["SRS_STORE_ROOTS"])
    bed, _ = EXAMPLES["plink"]["bed"](root)
    assert client.datasets.ingest(bed.name).wait(timeout=120).n_features == 6
    bed.with_suffix(".bim").rename(tmp_path / "x.bim")
    bed.with_suffix(".bim").symlink_to(tmp_path / "x.bim")
    with pytest.raises(SRSError, match="is a link"):
        client.datasets.ingest(bed.name).wait(timeout=120)


def test_what_leads_out_of_a_file_is_refused(client: Client, tmp_path: Path):
    import h5py

    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = h5py.ExternalLink("/etc/passwd", "/")
    with pytest.raises(SRSError, match="link to another file"):
        client.datasets.upload(tmp_path / "x.h5").wait(timeout=120)


def test_a_format_of_another_distribution(service: Server, client: Client, tmp_path: Path):
    source = write_bars(tmp_path / "x.bars", VALUES[4:].tolist())
    sent = client.datasets.upload(source).wait(timeout=120)
    assert (sent.n_features, sent.n_samples) == (6, 10)
    with service.client() as http:
        listed = {one["name"]: one for one in http.get("/v1/formats").json()["items"]}
        document = http.get("/openapi.json").json()
    assert listed["bars"]["suffixes"] == [".bars"]
    assert not [one for one in listed.values() if "--" in one["help"]]
    assert "`target` phenotype or sex, or a column of `table`" in listed["plink"]["help"]
    assert set(listed) == {one.name for one in stored_formats()} | {"bars"}
    upload = document["paths"]["/v1/uploads"]["post"]["parameters"]
    assert "bars" in next(p for p in upload if p["name"] == "filename")["schema"]["pattern"]


def test_a_reader_that_does_not_promise_to_be_safe(tmp_path: Path):
    server = Server(tmp_path, site=install_toy(tmp_path / "site", safe=False)).start()
    try:
        with server.client() as http:
            answer = http.post("/v1/uploads", params={"filename": "x.bars"}, content=b"1|2\n")
            problem = check_problem(answer, 422)
            assert "Bars files are not read here" in problem["detail"]
            listed = {one["name"]: one for one in http.get("/v1/formats").json()["items"]}
            assert not listed["bars"]["accepted"]
        with (
            Client(server.url, server.key) as client,
            pytest.raises(ServiceError, match="not read here"),
        ):
            client.datasets.upload(write_bars(tmp_path / "x.bars", VALUES.tolist()))
    finally:
        server.stop()
