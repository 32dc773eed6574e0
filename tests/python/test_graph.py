"""Eigenvectors and clusters of graphs, against SciPy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import diacut

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")


def grid(width: int, height: int, seed: int = 0):
    """A grid of random weights from 0.1 to 1."""
    random = np.random.default_rng(seed)
    index = np.arange(width * height).reshape(height, width)
    a = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    b = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    w = sp.coo_matrix((random.uniform(0.1, 1, a.size), (a, b)), (index.size, index.size))
    return (w + w.T).tocsr()


def normalized(w):
    roots = sp.diags(1 / np.sqrt(np.asarray(w.sum(1)).ravel()))
    return roots @ w @ roots


def test_eigenvectors_are_those_of_eigsh():
    w = grid(50, 40)
    found = diacut.eigenvectors(w, 9, tolerance=1e-5)
    assert found.converged and found.components == 1 and found.isolated == 0
    assert found.vectors.shape == (2000, 9) and found.vectors.dtype == np.float32
    a = normalized(w)
    values, vectors = linalg.eigsh(a, 9, which="LA", tol=1e-10, ncv=60)
    expected = np.sort(1 - values)
    np.testing.assert_allclose(found.values[1:], expected[1:], rtol=1e-3)
    assert found.values[0] == 0
    residuals = np.linalg.norm(a @ found.vectors - found.vectors * (1 - found.values), axis=0)
    assert residuals.max() < 1.1e-5
    cosines = np.linalg.svd(vectors[:, -8:].T @ found.vectors.astype(float))[1]
    assert cosines.min() > 0.9999


def test_the_result_unpacks_as_that_of_eigsh_and_can_be_pickled():
    values, vectors = diacut.eigenvectors(grid(9, 8), 4)
    assert values.shape == (4,) and vectors.shape == (72, 4)
    found = pickle.loads(pickle.dumps(diacut.eigenvectors(grid(9, 8), 4)))
    np.testing.assert_array_equal(found.vectors, vectors)
    np.testing.assert_allclose(found.vectors[:, 0], found.sqrt_degree / np.linalg.norm(found.sqrt_degree), rtol=1e-5)


FORMS = {form: lambda w, form=form: w.asformat(form) for form in ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]}
FORMS |= {"sparse array": lambda w: sp.csr_array(w), "dense array": lambda w: w.toarray()}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_the_same(form):
    w = grid(30, 20)
    found = diacut.eigenvectors(FORMS[form](w), 5)
    np.testing.assert_array_equal(found.vectors, diacut.eigenvectors(w, 5).vectors)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint16, np.int64, np.float32])
def test_all_types_give_the_same(kind):
    ones = (grid(12, 11) > 0).astype(np.float64)
    found = diacut.eigenvectors(ones.astype(kind), 5)
    np.testing.assert_array_equal(found.vectors, diacut.eigenvectors(ones, 5).vectors)


def test_entries_of_one_place_are_summed_and_the_matrix_stays_as_it_was():
    w = grid(12, 11).tocoo()
    twice = sp.coo_matrix(
        (np.tile(w.data / 2, 2), (np.tile(w.row, 2), np.tile(w.col, 2))), w.shape
    )
    np.testing.assert_allclose(
        diacut.eigenvectors(twice, 5).values, diacut.eigenvectors(w, 5).values, atol=1e-6
    )
    unsorted = w.tocsr()
    unsorted.indices[:2] = unsorted.indices[:2][::-1].copy()
    unsorted.data[:2] = unsorted.data[:2][::-1].copy()
    unsorted.has_sorted_indices = False
    unsorted.has_canonical_format = False
    before = unsorted.indices.copy()
    diacut.eigenvectors(unsorted, 3)
    np.testing.assert_array_equal(unsorted.indices, before)


def test_clusters_are_blobs():
    three = sp.block_diag([grid(20, 20, 1), grid(20, 20, 2), grid(20, 20, 3)]).tolil()
    for a, b in ((399, 400), (799, 800)):
        three[a, b] = three[b, a] = 1e-3
    labels = diacut.spectral_clustering(three.tocsr(), 3)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, np.repeat([1, 2, 3], 400))


def test_components_and_isolated_nodes():
    w = sp.block_diag([grid(20, 20), sp.csr_matrix((1, 1)), grid(10, 10)]).tocsr()
    found = diacut.eigenvectors(w, 6)
    assert found.components == 2 and found.isolated == 1
    np.testing.assert_array_equal(found.values[:2], 0)
    assert found.values[2] > 1e-4
    assert not found.vectors[400].any()
    labels = diacut.spectral_clustering(w, 2)
    np.testing.assert_array_equal(labels, np.repeat([1, 0, 2], [400, 1, 100]))


def test_a_missed_tolerance_warns():
    with pytest.warns(diacut.DiacutWarning, match="did not converge"):
        found = diacut.eigenvectors(grid(60, 50), 9, tolerance=1e-9, max_iterations=2)
    assert not found.converged and found.vectors.shape == (3000, 9)


@pytest.mark.parametrize(
    "change, error, told",
    [
        (sp.triu, diacut.InputError, "not symmetric"),
        (lambda w: w * 1e300, diacut.InputError, "inf"),
        (lambda w: w[:, :29], diacut.InputError, r"\(30, 29\)"),
        (lambda w: w.astype(complex), diacut.DtypeError, "complex"),
    ],
)
def test_bad_graphs_are_refused(change, error, told):
    with pytest.raises(error, match=told):
        diacut.eigenvectors(change(grid(6, 5)), 3)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3", None])
def test_bad_numbers_of_vectors_are_refused(k):
    with pytest.raises(diacut.ConfigError, match="k is"):
        diacut.eigenvectors(grid(6, 5), k)
    with pytest.raises(diacut.ConfigError, match="k is"):
        diacut.spectral_clustering(grid(6, 5), k)


def test_all_vectors_of_a_small_graph_and_one_more():
    w = grid(6, 5)
    found = diacut.eigenvectors(w, 30)
    np.testing.assert_allclose(
        found.values, np.linalg.eigvalsh(np.eye(30) - normalized(w).toarray()), atol=1e-6
    )
    with pytest.raises(diacut.ConfigError, match="at most 30"):
        diacut.eigenvectors(w, 31)
    with pytest.raises(diacut.DeviceError, match="memory"):
        diacut.eigenvectors(grid(100, 100), memory=1 << 20)
    assert diacut.eigenvectors(w, 2, memory=1 << 40).converged


def test_progress_is_told_and_may_stop_the_work():
    told = []
    diacut.eigenvectors(grid(40, 40), progress=lambda stage, share: told.append((stage, share)))
    assert told[-1] == ("eigenvectors", 1.0)

    def stop(stage: str, share: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        diacut.eigenvectors(grid(40, 40), progress=stop)


def test_the_program_gives_the_same_vectors(programs, tmp_path):
    w = grid(40, 30).astype(np.float32)
    for compressed in (False, True):
        sp.save_npz(tmp_path / "w.npz", w, compressed=compressed)
        programs.run("segment", "graph", tmp_path / "w.npz", "-o", tmp_path / "v.npy", "--vectors", 6,
                     "--clusters", 3, "--labels", tmp_path / "l.npy", "-q")
        np.testing.assert_array_equal(np.load(tmp_path / "v.npy").T, diacut.eigenvectors(w, 6).vectors)
        np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), diacut.spectral_clustering(w, 3))
