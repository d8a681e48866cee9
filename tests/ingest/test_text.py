"""Text files: headers, ids, delimiters, quotes, missing markers, and width."""

import numpy as np
import pandas as pd
import pytest

from srs.ingest import ingest
from srs.ingest.values import read_values

X = np.array([[1.0, 5.5], [2.0, np.nan], [3.5, -1e3]])


def fingerprint(values, **options):
    return ingest(values, **options).fingerprint


@pytest.mark.parametrize("marker", ["", "NA", "nan", "NULL", "?", "<NA>", "#N/A", "n/a", "na"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_missing_markers(marker, delimiter, tmp_path):
    lines = ["a,b", "1,5.5", f"2,{marker}", "3.5,-1e3", ""]
    (tmp_path / "t.csv").write_text("\n".join(lines).replace(",", delimiter))
    assert ingest(tmp_path / "t.csv").fingerprint == fingerprint(X, names=["a", "b"])


@pytest.mark.parametrize("header", ["", "id", "Sample", "sample_id", "INDEX"])
def test_first_column_of_ids(header, tmp_path):
    (tmp_path / "t.csv").write_text(f"{header},a,b\ns1,1,5.5\ns2,2,NA\ns3,3.5,-1000\n")
    store = ingest(tmp_path / "t.csv")
    assert store.sample_ids == ["s1", "s2", "s3"]
    assert store.fingerprint == fingerprint(X, names=["a", "b"], sample_ids=["s1", "s2", "s3"])


def test_header_of_r_lacks_the_column_of_row_names(tmp_path):
    (tmp_path / "t.txt").write_text('"a" "b"\n"s1" 1 5.5\n"s2" 2 NA\n"s3" 3.5 -1000\n')
    store = ingest(tmp_path / "t.txt")
    assert store.fingerprint == fingerprint(X, names=["a", "b"], sample_ids=["s1", "s2", "s3"])


def test_columns_aligned_with_blanks(tmp_path):
    lines = ["  id    a       b", "  s1    1     5.5", ' "s2"   2      NA', "  s3  3.5   -1000 "]
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n   \n")
    store = ingest(tmp_path / "t.txt", tmp_path / "s.zarr")
    assert store.fingerprint == fingerprint(X, names=["a", "b"], sample_ids=["s1", "s2", "s3"])
    np.testing.assert_array_equal(read_values(store, [0, 1]), X)
    (tmp_path / "f.txt").write_text("g   s1  s2  s3\na    1   2  3.5\nb  5.5  NA  -1000\n")
    turned = ingest(tmp_path / "f.txt", orientation="features")
    assert turned.fingerprint == store.fingerprint


@pytest.mark.parametrize(
    "start",
    ["# made by a tool, version 2\n#\nid,a,b\n", "## a, b, c\n#id,a,b\n", "\n# text\nid,a,b\n"],
)
def test_comments_before_the_header(start, tmp_path):
    (tmp_path / "t.csv").write_text(start + "s1,1,5.5\ns2,2,NA\ns3,3.5,-1000\n")
    store = ingest(tmp_path / "t.csv", tmp_path / "s.zarr")
    assert store.fingerprint == fingerprint(X, names=["a", "b"], sample_ids=["s1", "s2", "s3"])
    np.testing.assert_array_equal(read_values(store, [0, 1]), X)


def test_headers_of_numpy(tmp_path):
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header="made by numpy\na,b")
    assert ingest(tmp_path / "t.csv").fingerprint == fingerprint(X, names=["a", "b"])
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header="made by numpy")
    assert ingest(tmp_path / "t.csv").fingerprint == fingerprint(X)


def test_first_line_of_numbers_is_data_and_noticed(tmp_path):
    (tmp_path / "t.csv").write_text("1,5.5\n2,\n3.5,-1000\n")
    store = ingest(tmp_path / "t.csv", target=[0, 1, 1])
    assert store.fingerprint == fingerprint(X, target=[0, 1, 1])
    (notice,) = store.manifest.notices
    assert notice == "the first line of t.csv is all numbers and was read as data."


def test_header_that_counts_gives_no_names(tmp_path):
    pd.DataFrame(X).to_csv(tmp_path / "t.csv", index=False)
    store = ingest(tmp_path / "t.csv")
    assert store.fingerprint == fingerprint(X)


def test_quotes_newlines_and_byte_order_mark(tmp_path):
    content = '\ufeff"a, b",c,"d ""q"""\r\n1,"x, y",3\r\n\r\n2,"x\r\nz",4\r\n"3",w,5\r\n'
    (tmp_path / "t.csv").write_bytes(content.encode())
    store = ingest(tmp_path / "t.csv", target=[0, 1, 1])
    assert store.feature_names == ["a, b", "c", 'd "q"']
    assert store.labels(1) == ("w", "x\r\nz", "x, y")
    np.testing.assert_array_equal(read_values(ingest(tmp_path / "t.csv"), [0, 2])[:, 1], [3, 4, 5])


def test_line_numbers_count_lines_in_quotes(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n"x\ny",1\nz,2,3\n')
    with pytest.raises(ValueError, match="line 4: 3 fields"):
        ingest(tmp_path / "t.csv")


def test_features_as_rows_with_quoted_names_text_and_missing(tmp_path):
    lines = ["gene,s1,s2,s3", '"a, b",1,NA,3', "c,u,v,u", '"d",1,"2",', "e,7,7,8"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    store = ingest(tmp_path / "t.csv", orientation="features", categorical=["e"])
    assert store.feature_names == ["a, b", "c", "d", "e"]
    assert store.sample_ids == ["s1", "s2", "s3"]
    assert store.kinds.tolist() == [0, 2, 0, 2]
    assert store.read_codes([0, 1, 2, 3]).T.tolist() == [
        [0, 255, 1],
        [0, 1, 0],
        [0, 1, 255],
        [0, 0, 1],
    ]


@pytest.mark.parametrize("descriptions", [1, 2])
def test_features_as_rows_with_descriptions(descriptions, tmp_path):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(20, 9)).round(3)
    values[3, 0] = np.nan
    frame = pd.DataFrame(values, columns=[f"S{i}" for i in range(9)])
    frame.insert(0, "Description", [f"gene {i}" if i else None for i in range(20)])
    if descriptions == 2:
        frame.insert(1, "Strand", ["plus", "minus"] * 10)
    frame.index = pd.Index([f"ENSG{i}" for i in range(20)], name="Name")
    frame.to_csv(tmp_path / "t.tsv", sep="\t")
    options = {"orientation": "features", "target": [0, 1, 1] * 3}
    store = ingest(tmp_path / "t.tsv", tmp_path / "s.zarr", **options)
    assert store.sample_ids == [f"S{i}" for i in range(9)]
    assert store.feature_names[1] == "ENSG1"
    np.testing.assert_array_equal(read_values(store, range(20)), values.T)
    (notice,) = store.manifest.notices
    assert notice.startswith("1 column of text was" if descriptions == 1 else "2 columns of text")
    assert notice.endswith("left out as descriptions of features; the first is 'Description'.")
    with pytest.raises(ValueError, match="'Description' is text and others are numbers"):
        ingest(frame, **options)


def test_features_as_rows_may_all_be_text(tmp_path):
    (tmp_path / "t.csv").write_text("snp,s1,s2,s3,s4\na,AA,AG,NA,GG\nb,CC,CC,NA,CT\n")
    store = ingest(tmp_path / "t.csv", orientation="features", target=[0, 1, 1, 0])
    assert store.sample_ids == ["s1", "s2", "s3", "s4"]


def test_declared_categories_may_turn_into_text_later(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n2,10\n" * 700 + "3,other\n")
    store = ingest(tmp_path / "t.csv", tmp_path / "s.zarr", categorical=["b"])
    assert store.labels(1) == ("10", "2", "other")
    np.testing.assert_array_equal(read_values(store, [1, 0])[-1], [2, 3])


def test_one_category_written_in_two_ways(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1.0,2.5\n10,3\n")
    store = ingest(tmp_path / "t.csv", categorical=["a"])
    assert store.labels(0) == ("1", "10")
    assert store.read_codes([0])[:, 0].tolist() == [0, 0, 1]


def test_target_between_features_and_several_targets(tmp_path):
    (tmp_path / "t.csv").write_text("a,y,b,z\n1,u,5.5,0.5\n2,v,NA,1\n3.5,v,-1000,7\n")
    store = ingest(tmp_path / "t.csv", target={"group": "y", "size": "z"})
    assert store.target_names == ("group", "size")
    assert store.target("group").labels == ("u", "v")
    assert store.target("size").values.tolist() == [0.5, 1, 7]
    assert store.feature_names == ["a", "b"]


@pytest.mark.parametrize("marker", ["0.25", "NA"])
def test_wide_lines(marker, tmp_path):
    n_features = 20_000
    line = ",".join(["1.5"] * (n_features - 1))
    header = ",".join(f"c{i}" for i in range(n_features))
    rows = "".join(f"s{i},{line},{marker if i else i}\n" for i in range(4))
    (tmp_path / "t.csv").write_text(f"id,{header}\n{rows}")
    store = ingest(tmp_path / "t.csv")
    assert store.n_features == n_features
    assert store.n_levels[-1] == (2 if marker == "0.25" else 1)
    assert "19999 features are constant, the first is 'c0'." in store.manifest.notices


# -- decimal commas ---------------------------------------------------------------------------


@pytest.fixture
def measured():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(40, 5)).round(3), columns=[*"abcde"])
    frame.loc[3, "b"] = np.nan
    frame["count"] = np.arange(40) % 3
    frame["who"] = [f"Doe, {'xyz'[i % 3]}" for i in range(40)]
    frame["outcome"] = rng.normal(size=40).round(3)
    return frame


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_commas_are_numbers(delimiter, measured, tmp_path):
    measured.to_csv(tmp_path / "t.csv", sep=delimiter, decimal=",", index=False)
    store = ingest(tmp_path / "t.csv", tmp_path / "s.zarr", target="outcome")
    assert store.kinds.tolist() == [0, 0, 0, 0, 0, 0, 2]
    assert store.fingerprint == fingerprint(measured, target="outcome")
    np.testing.assert_array_equal(store.target().values, measured["outcome"])
    np.testing.assert_array_equal(read_values(store, [4, 1, 5]), measured[["e", "b", "count"]])


def test_decimal_commas_without_a_header_and_by_features(measured, tmp_path):
    numbers = measured[[*"abcde"]]
    numbers.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False, header=False)
    assert ingest(tmp_path / "t.csv").fingerprint == fingerprint(numbers.to_numpy())
    numbers.T.to_csv(tmp_path / "f.csv", sep=";", decimal=",")
    store = ingest(tmp_path / "f.csv", tmp_path / "s.zarr", orientation="features")
    np.testing.assert_array_equal(read_values(store, range(5)), numbers)


def test_whole_numbers_of_the_first_lines_may_have_commas_later(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n" + "0;0,5\n1;2\n" * 600 + "2,5;1\n")
    store = ingest(tmp_path / "t.csv", tmp_path / "s.zarr")
    assert read_values(store, [0, 1])[-1].tolist() == [2.5, 1]


def test_commas_among_points_are_not_decimal(tmp_path):
    lines = [f"{i}.5;{i},5" for i in range(30)]
    lines[7] = "1,234;7,5"
    (tmp_path / "t.csv").write_text("a;b\n" + "\n".join(lines) + "\n")
    store = ingest(tmp_path / "t.csv", target=np.arange(30) % 2)
    assert store.kinds.tolist() == [2, 0]
    assert store.manifest.notices == (
        "1 feature is read as categories although nearly all values are numbers, the first is "
        "'a', because of '1,234' in row 7 (from 0): write NA for what is missing, or declare "
        "the feature categorical.",
    )
    (tmp_path / "t.csv").write_text("a;b\n" + "1.5;2,5\n" * 1100 + "1,234;2,5\n")
    with pytest.raises(ValueError, match="line 1102: '1,234' in the numeric column 'a'"):
        ingest(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a;b\n" + "1.5;2,5\n" * 1100 + "2;1.234,5\n")
    with pytest.raises(ValueError, match=r"line 1102: '1\.234,5' in the numeric column 'b'"):
        ingest(tmp_path / "t.csv")
