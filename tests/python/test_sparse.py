"""Products, eigenpairs and linear systems of sparse matrices, against SciPy in double."""

import threading

import numpy as np
import pytest

import diacut
from diacut import sparse

sp = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")


def drawn(rows, columns, density=0.1, seed=1):
    return sp.random(rows, columns, density, "csr", np.float32, np.random.default_rng(seed))


def laplacian(*sides):
    """Of a grid with values 0 around it."""
    total = sp.csr_matrix((1, 1))
    for n in sides:
        line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
        total = sp.kron(total, sp.eye(n)) + sp.kron(sp.eye(total.shape[0]), line)
    return total.tocsr()


def expect_product(found, matrix, x):
    """A sum of n float32 products is off by at most n u times the sum of their magnitudes."""
    matrix, x = sp.csr_matrix(matrix).astype(np.float64), np.asarray(x, np.float64)
    terms = np.diff(matrix.indptr) + 2.0
    allowed = (abs(matrix) @ abs(x)) * (terms if x.ndim == 1 else terms[:, None]) * 2.0**-24
    assert found.dtype == np.float32 and found.shape == (matrix @ x).shape
    assert np.all(abs(found - matrix @ x) <= allowed)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "lil", "dok", "bsr"])
def test_products_of_every_form_of_scipy(form):
    matrix = drawn(90, 70).asformat(form)
    a = sparse.Matrix(matrix)
    generator = np.random.default_rng(2)
    x, many = generator.random(70), generator.random((70, 5), np.float32)
    expect_product(a @ x, matrix, x)
    expect_product(a @ many, matrix, many)
    expect_product(a @ many[:, ::2], matrix, many[:, ::2])
    expect_product(a.T @ (y := generator.random(90)), matrix.T, y)
    expect_product(y @ a, matrix.T, y)
    assert a.T.T.shape == a.shape == (90, 70)


def test_dense_arrays_and_shapes_at_the_edge():
    for shape in [(1, 1), (1, 9), (9, 1), (4, 3)]:
        dense = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape)
        expect_product(sparse.Matrix(dense) @ np.ones(shape[1]), dense, np.ones(shape[1]))
    assert (sparse.Matrix(sp.csr_matrix((3, 2))) @ np.ones(2)).tolist() == [0, 0, 0]
    assert (sparse.Matrix(sp.csr_matrix((3, 2))) @ np.ones((2, 0))).shape == (3, 0)


def test_stencils_of_three_dimensions_by_scipys_diagonals():
    matrix = laplacian(9, 8, 7).todia()
    for name in ["dia/row", "dia", "csr/scalar", "sell", "coo"]:
        a = sparse.Matrix(matrix, format=name)
        assert a.kernel.startswith(name) and a.format == name.split("/")[0]
        x = np.random.default_rng(3).random(matrix.shape[1], np.float32)
        expect_product(a @ x, matrix, x)


def test_a_second_product_uploads_its_vector_alone():
    a = sparse.Matrix(drawn(300, 200))
    x = np.ones(200, np.float32)
    a @ x
    before = a.uploaded
    a @ x
    assert a.uploaded - before == x.nbytes


def test_entries_of_one_place_are_summed_and_bad_ones_refused():
    twice = sp.csr_matrix((np.array([2.0, 1.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), (1, 2))
    assert (sparse.Matrix(twice) @ [1, 1]).tolist() == [7]
    bad = sp.csr_matrix(np.array([[1.0, np.nan]]))
    with pytest.raises(diacut.InputError, match="row 0, column 1 is nan"):
        sparse.Matrix(bad)
    assert np.isnan(sparse.Matrix(bad, nan=True) @ [1, 1]).all()
    outside = sp.csr_matrix(np.eye(2))
    outside.indices[1] = 7
    with pytest.raises(diacut.InputError, match="column 7, expected 0 to 1"):
        sparse.Matrix(outside)
    with pytest.raises(diacut.InputError, match=r"shape \(3,\), expected \(2,\)"):
        sparse.Matrix(np.eye(2)) @ np.ones(3)
    with pytest.raises(diacut.DtypeError, match="complex"):
        sparse.Matrix(np.eye(2) * 1j)
    with pytest.raises(diacut.ConfigError, match="no format 'csc'"):
        sparse.Matrix(np.eye(2), format="csc")
    with pytest.raises(diacut.DeviceMemoryError, match="MiB more than"):
        sparse.Matrix(drawn(2000, 2000), memory=1)


def test_numbers_of_16_bits():
    matrix = drawn(200, 200)
    a = sparse.Matrix(matrix, half=True, format="csr")
    x = np.random.default_rng(3).random(200, np.float32)
    assert np.all(abs(a @ x - matrix @ x) <= 2.0**-11 * (matrix @ x) + 1e-5)
    assert np.any(a @ x != sparse.Matrix(matrix, format="csr") @ x)


def test_scipys_solvers_take_the_operator():
    matrix = laplacian(15, 14) + 0.1 * sp.eye(210)
    operator = sparse.Matrix(matrix).tolinearoperator()
    b = np.random.default_rng(4).random(210)
    mine, info = linalg.cg(operator, b, rtol=1e-5)
    assert info == 0
    np.testing.assert_allclose(mine, linalg.spsolve(matrix.tocsc(), b), rtol=0, atol=1e-3)
    values = linalg.eigsh(operator, 3, which="LA", return_eigenvectors=False)
    expected = linalg.eigsh(matrix, 3, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(values, expected, rtol=1e-5)


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
def test_eigsh_gives_what_scipys_gives(which):
    matrix = laplacian(13, 12, 11) - 5 * sp.eye(13 * 12 * 11)
    values, vectors = sparse.eigsh(sparse.Matrix(matrix), 4, which=which)
    expected = linalg.eigsh(matrix, 4, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(values, np.sort(expected), rtol=0, atol=2e-5)
    assert np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max() < 2e-5
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-4)


def test_eigsh_says_what_it_does_not_do():
    matrix = laplacian(30, 30)
    for arguments, words in [({"sigma": 0}, "sigma"), ({"which": "SM"}, "'SA' is 'SM'")]:
        with pytest.raises(diacut.ConfigError, match=words):
            sparse.eigsh(matrix, **arguments)
    with pytest.raises(diacut.InputError, match="not symmetric"):
        sparse.eigsh(drawn(20, 20), 2)
    with pytest.warns(diacut.DiacutWarning, match="did not converge"):
        sparse.eigsh(matrix, 4, which="SA", maxiter=5)


def test_cg_gives_what_scipys_gives():
    matrix = laplacian(31, 20) + 0.05 * sp.eye(620)
    b = np.random.default_rng(5).random(620)
    x, info = sparse.cg(sparse.Matrix(matrix), b)
    assert info == 0
    assert np.linalg.norm(matrix @ x - b) <= 2e-5 * np.linalg.norm(b)
    assert sparse.cg(matrix, b, maxiter=2)[1] == 2
    assert sparse.cg(matrix, b, x)[1] == 0


def test_threads_share_a_matrix():
    matrix = drawn(400, 400)
    a = sparse.Matrix(matrix)
    wrong = []

    def multiply(seed):
        x = np.random.default_rng(seed).random(400, np.float32)
        for _ in range(20):
            try:
                expect_product(a @ x, matrix, x)
            except AssertionError as error:
                wrong.append(error)

    threads = [threading.Thread(target=multiply, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_share_of_a_copy():
    rate = sparse.Matrix(laplacian(200, 200), format="csr").rate(repeats=1)
    assert rate["milliseconds"] > 0 and rate["copy_gigabytes_per_second"] > 0
    assert rate["share_of_copy"] == pytest.approx(
        rate["gigabytes_per_second"] / rate["copy_gigabytes_per_second"]
    )
