"""The Segmenter: batches, threads, progress, interruption, and what survives a pickle or a fork."""

from __future__ import annotations

import builtins
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import diacut
from diacut._segmenter import shared_segmenter


def test_device_and_parameters(segmenter):
    devices = diacut.list_devices()
    assert segmenter.device.index in [device.index for device in devices]
    assert segmenter.device.kind in ("cpu", "gpu", "accelerator", "other")
    assert segmenter.device.global_memory > 0
    assert segmenter.parameters["region.regions"] == 6
    assert segmenter.parameters["image.detail"] == 640
    assert [info.key for info in diacut.parameters()] == list(segmenter.parameters)
    assert {"fast", "quality"} <= set(diacut.presets())
    result = segmenter.segment(np.zeros((20, 20), np.uint8), eigenvectors=True)
    assert "eigenvectors" in result.times and all(time >= 0 for time in result.times.values())
    assert result.converged and len(result.residuals) == len(result.eigenvalues)


def test_segment_keeps_the_device(picture):
    first = diacut.segment(picture, 5, config="fast")
    kept = shared_segmenter(regions=5, config="fast")
    assert np.array_equal(diacut.segment(picture, 5, config="fast").labels, first.labels)
    assert shared_segmenter(regions=np.int64(5), config="fast") is kept
    other = shared_segmenter(regions=4, config="fast")
    assert other is not kept and shared_segmenter(regions=5, config="fast") is not kept


def test_verified_results_are_the_same(picture):
    once = diacut.segment(picture, 5, config="fast")
    with diacut.Segmenter(5, config="fast", verify=True) as verifying:
        assert np.array_equal(verifying.segment(picture).labels, once.labels)
        assert all(np.array_equal(each.labels, once.labels) for each in verifying.map([picture, picture]))


def pictures(picture: np.ndarray) -> list[np.ndarray]:
    return [picture, picture[:, ::-1], picture[:50, :70], picture[:, :, 0], picture.transpose(1, 0, 2)]


def test_map(segmenter, picture):
    images = pictures(picture)
    expected = [segmenter.segment(image).labels for image in images]
    told: list[tuple[int, int]] = []
    results = list(segmenter.map(images, progress=lambda *state: told.append(state)))
    assert told == [(k, 5) for k in range(1, 6)]
    for result, labels in zip(results, expected):
        assert np.array_equal(result.labels, labels)
    stack = np.stack([picture, picture[::-1]])
    for result, image in zip(segmenter.map(stack), stack):
        assert np.array_equal(result.labels, segmenter.segment(image).labels)
    assert list(segmenter.map([])) == []


def test_map_together(segmenter, picture, monkeypatch):
    """Images that are begun together, as on a GPU, get what they get alone."""
    images = [picture, picture[:, ::-1], picture[::-1], picture[:50, :70], picture]

    class Together:
        def __init__(self, engine):
            self.engine, self.pixels_together, self.groups = engine, 40_000, []

        def begin(self, images, boundary_map, features, eigenvectors):
            self.groups.append(len(images))
            return self.engine.begin(images, boundary_map, features, eigenvectors)

    together = Together(segmenter._engine)
    monkeypatch.setattr(segmenter, "_engine", together)
    found = [result.labels for result in segmenter.map(iter(images))]
    monkeypatch.undo()
    assert max(together.groups) >= 2 and sum(together.groups) == 5
    for labels, image in zip(found, images):
        assert np.array_equal(labels, segmenter.segment(image).labels)


def test_map_reads_a_generator_step_by_step(segmenter, picture):
    taken = []

    def source():
        for index in range(50):
            taken.append(index)
            yield picture[:30, :40]

    results = segmenter.map(source())
    assert taken == []
    next(results)
    assert len(taken) < 8
    results.close()
    assert len(taken) < 8


def test_map_with_a_bad_image(segmenter, picture, photograph):
    images = [picture, np.zeros((0, 3), np.uint8), "/nonexistent.jpg", photograph]
    results = segmenter.map(images)
    assert np.array_equal(next(results).labels, segmenter.segment(picture).labels)
    with pytest.raises(diacut.InputError, match="empty"):
        next(results)
    kept = list(segmenter.map(images, errors="return"))
    assert [type(each) for each in kept] == [
        diacut.HierarchyCut, diacut.InputError, diacut.FileError, diacut.HierarchyCut,
    ]
    assert np.array_equal(kept[3].labels, segmenter.segment(photograph).labels)
    for bad, message in [
        (picture, "looks like one"),
        (str(photograph), "several images"),
        (picture[:, :, 0], "looks like one"),
    ]:
        with pytest.raises(diacut.InputError, match=message):
            segmenter.map(bad)
    with pytest.raises(diacut.ConfigError, match="errors is 'ignore'"):
        segmenter.map([picture], errors="ignore")
    with pytest.raises(diacut.InputError, match="boundary_map has 1 maps"):
        list(segmenter.map([picture, picture], boundary_map=[None]))


def test_progress(segmenter, picture):
    told: list[tuple[str, float]] = []
    segmenter.segment(picture, progress=lambda stage, share: told.append((stage, share)))
    stages = list(dict.fromkeys(stage for stage, _ in told))
    assert {"boundaries", "contours", "regions"} <= set(stages)
    for stage in stages:
        shares = [share for name, share in told if name == stage]
        assert shares == sorted(shares) and 0 <= shares[0] and shares[-1] <= 1


def test_progress_with_tqdm(segmenter, picture, capsys):
    segmenter.segment(picture, progress=True)
    assert "regions" in capsys.readouterr().err
    list(segmenter.map([picture, picture], progress=True))
    assert "2/2" in capsys.readouterr().err


def test_progress_without_tqdm(segmenter, picture, monkeypatch):
    original = builtins.__import__

    def without_tqdm(name, *rest):
        if name.startswith("tqdm"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_tqdm)
    with pytest.raises(ImportError, match="pip install tqdm"):
        segmenter.segment(picture, progress=True)


def test_an_exception_of_the_progress_function_stops_the_work(segmenter, picture):
    class Enough(Exception):
        pass

    def stop(stage, share):
        raise Enough(stage)

    with pytest.raises(Enough):
        segmenter.segment(picture, progress=stop)
    assert segmenter.segment(picture).count == 6


def test_a_segmenter_called_by_its_own_progress_function(segmenter, picture):
    with pytest.raises(diacut.Error, match="its own progress"):
        segmenter.segment(picture, progress=lambda *_: segmenter.segment(picture))
    assert segmenter.segment(picture).count == 6


@pytest.mark.parametrize("shared", [True, False])
def test_threads_that_share_a_segmenter_or_have_one_each(segmenter, picture, shared):
    images = pictures(picture)
    expected = [segmenter.segment(image).labels for image in images]

    def work(_):
        own = segmenter if shared else diacut.Segmenter(config="fast", regions=6)
        return [own.segment(image).labels for image in images]

    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(work, range(3)):
            for labels, other in zip(found, expected):
                assert np.array_equal(labels, other)


def test_other_threads_run_meanwhile(segmenter, picture):
    """The interpreter's lock is not held while the device works."""
    ticks = 0
    stop = threading.Event()

    def tick():
        nonlocal ticks
        while not stop.wait(0.001):
            ticks += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    for _ in range(3):
        segmenter.segment(picture)
    seconds = time.perf_counter() - start
    stop.set()
    ticker.join()
    assert ticks > 20 * seconds


def test_pickle(segmenter, picture):
    again = pickle.loads(pickle.dumps(segmenter))
    assert again.parameters == segmenter.parameters
    result = again.segment(picture)
    assert np.array_equal(result.labels, segmenter.segment(picture).labels)
    tree = pickle.loads(pickle.dumps(result.hierarchy))
    assert tree.to_bytes() == result.hierarchy.to_bytes()


def test_the_way_from_an_array_to_labels_adds_little_to_the_stages(photograph):
    segmenter = diacut.Segmenter(config="fast")
    if segmenter.device.kind != "cpu":
        pytest.skip("small pictures take a GPU so little time that other work shows: docs/python.md")
    array = np.rint(diacut.read_image(photograph).pixels * 255).astype(np.uint8)
    shares = []
    for _ in range(3):
        start = time.perf_counter()
        result = segmenter.segment(array)
        milliseconds = 1000 * (time.perf_counter() - start)
        shares.append(milliseconds / sum(result.times.values()) - 1)
    assert min(shares) < 0.05
