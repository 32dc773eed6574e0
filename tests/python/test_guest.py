"""diacut in somebody's program: forks, signals, the interpreter's end, names of files, arrays of others."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import diacut

#: What the programs below begin with.
BEGIN = """
import os, signal, sys, threading, time
import numpy as np, diacut
P = (np.random.default_rng(0).random((60, 80, 3)) * 255).astype(np.uint8)
"""


def run(program: str, seconds: float = 120, code: int = 0) -> str:
    """What a Python program prints that ends with this code within the time."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program], capture_output=True, text=True, timeout=seconds, check=False
    )
    assert done.returncode == code, done.stderr
    assert "terminate called" not in done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "child",
    [
        "sys.exit(0)",
        "del segmenter",
        "diacut.segment(P, 4, config='fast')",
        "diacut.segment(P, 3, config='fast', boundary='gradient')",
        "segmenter.segment(P)",
        "diacut.eigenvectors(np.ones((4, 4)), 2)",
        "diacut.Segmenter()",
        "diacut.list_devices()",
    ],
)
def test_a_forked_process_ends(child):
    uses = child not in ("sys.exit(0)", "del segmenter")
    program = f"""
segmenter = diacut.Segmenter(config="fast")
segmenter.segment(P)
diacut.segment(P, 3, config="fast")
diacut.eigenvectors(np.ones((4, 4)), 2)
child = os.fork()
if child == 0:
    try:
        {child}
    except diacut.DeviceError as error:
        sys.exit(7 if "forked" in str(error) and "spawn" in str(error) else 8)
    sys.exit(0)
end = time.time() + 20
while time.time() < end:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        segmenter.segment(P)  # Goes on here.
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.05)
os.kill(child, signal.SIGKILL)
sys.exit("the child hangs")
"""
    run(program, code=7 if uses else 0)


@pytest.mark.parametrize(
    "call",
    [
        'segmenter.segment(L)',
        'diacut.segment(L, config="ncut", detail="native", eigenvectors=True)',
        'diacut.segment(L, config="fast", boundary="gradient", detail="native", eigenvectors=True)',
        'list(segmenter.map([L] * 4))',
    ],
)
def test_ctrl_c_stops_within_seconds(call):
    run(f"""
L = np.tile(P, (14, 14, 1))
segmenter = diacut.Segmenter(config="quality", detail="native")
at = []
def interrupt():
    at.append(time.time())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1.5, interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    assert time.time() - at[0] < 5, time.time() - at[0]
else:
    sys.exit("not interrupted")
assert segmenter.segment(P).count > 0
""")


def test_handlers_of_signals_stay():
    run("""
kinds = [n for n in range(1, 32) if n not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGFPE)]
hits = []
for kind in kinds:
    signal.signal(kind, lambda number, frame: hits.append(number))
diacut.segment(P, 3, config="fast")
diacut.eigenvectors(np.ones((4, 4)), 2)
for kind in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE):
    os.kill(os.getpid(), kind)
    time.sleep(0.05)
    assert hits.pop() == kind
""")


@pytest.mark.parametrize("daemon", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_interpreter_ends_while_threads_segment(daemon, threads):
    count = 10**6 if daemon else 3
    run(f"""
s = diacut.Segmenter(config="fast")
for k in range({threads}):
    threading.Thread(target=lambda: [s.segment(P) for _ in range({count})], daemon={daemon}).start()
time.sleep(2)
""")


def test_an_abandoned_iterator():
    run("""
results = diacut.Segmenter(config="fast").map([P] * 50)
next(results)
""")


def test_names_of_files(photograph, segmenter, tmp_path):
    expected = segmenter.segment(photograph).labels
    for name in (b"caf\xe9.jpg", "snow \N{SNOWMAN}.jpg".encode()):
        place = os.path.join(os.fsencode(tmp_path), name)
        shutil.copy(photograph, place)
        for path in (place, os.fsdecode(place), tmp_path / os.fsdecode(name)):
            assert np.array_equal(segmenter.segment(path).labels, expected)
            assert diacut.read_image(path).shape == diacut.read_image(photograph).shape
        assert len(list(segmenter.map([place]))) == 1
        tree = place + b".tree"
        segmenter.segment(place).hierarchy.save(tree)
        assert np.array_equal(
            diacut.Hierarchy.load(tree).cut(regions=6), segmenter.segment(place).hierarchy.cut(regions=6)
        )
        settings = place + b".toml"
        with open(settings, "w") as file:
            file.write("[region]\nregions = 3\n")
        assert diacut.segment(place, config=settings).count == 3
    with pytest.raises(diacut.FileError, match="missing"):
        diacut.read_image(os.path.join(os.fsencode(tmp_path), b"missing\xe9.jpg"))
    with pytest.raises(diacut.ConfigError, match="weights"):
        diacut.segment(photograph, weights=b"no weights\xe9")


@pytest.mark.parametrize("name", ["a\0b.png", b"a\0b.png"])
def test_a_nul_in_a_name(name, segmenter):
    with pytest.raises(ValueError, match="null byte"):
        open(name).close()
    for call in (segmenter.segment, diacut.read_image, diacut.Hierarchy.load):
        with pytest.raises(ValueError, match="null byte"):
            call(name)


def assert_same(again, result):
    for name in ("labels", "contours", "eigenvalues", "eigenvectors", "sqrt_degree"):
        assert np.array_equal(getattr(again, name), getattr(result, name)), name
    for name in ("count", "converged", "solver", "times", "notes", "resolved", "residuals"):
        assert getattr(again, name) == getattr(result, name), name
    assert np.array_equal(np.stack(again.normalized_eigenvectors), np.stack(result.normalized_eigenvectors))
    assert np.array_equal(again.hierarchy.cut(regions=5), result.hierarchy.cut(regions=5))
    assert repr(again) == repr(result)


def test_results_are_pickled_and_copied(picture):
    result = diacut.segment(picture, config="fast", eigenvectors=True)
    kept = pickle.dumps(result)
    for again in (pickle.loads(kept), copy.copy(result), copy.deepcopy(result)):
        assert_same(again, result)
        assert_same(pickle.loads(pickle.dumps(again)), result)
    seeds = np.zeros(picture.shape[:2], np.int32)
    seeds[5, 5], seeds[90, 120] = 3, 9
    grown = diacut.segment(picture, seeds=seeds, probabilities=True)
    again = pickle.loads(pickle.dumps(grown))
    assert np.array_equal(again.labels, grown.labels)
    assert np.array_equal(again.probabilities, grown.probabilities)
    assert again.hierarchy is None
    with pytest.raises(diacut.ConfigError):
        pickle.loads(pickle.dumps(diacut.segment(picture, config="fast"))).eigenvectors


def test_eigenvectors_have_indices():
    found = diacut.eigenvectors(np.ones((6, 6)), 2)
    assert found[0] is found.values
    assert found[1] is found[-1] is found.vectors
    assert len(found) == 2
    with pytest.raises(IndexError):
        found[2]


def test_an_image_is_an_array(photograph):
    image = diacut.read_image(photograph)
    assert np.array_equal(np.asarray(image), image.pixels)
    assert np.asarray(image).shape == image.shape
    assert np.asarray(image, dtype=np.float64).dtype == np.float64
    assert np.array(image).flags.writeable
    assert np.mean(image) == np.mean(image.pixels)


@pytest.mark.parametrize("mode", ["P", "PA", "RGBX", "CMYK", "YCbCr", "HSV", "RGBa", "La", "L", "1", "I", "F"])
def test_images_of_pil_are_segmented_as_it_shows_them(mode, picture, segmenter):
    image = Image.fromarray(picture)
    if mode in ("PA", "RGBa", "La"):
        image.putalpha(Image.fromarray((picture[:, :, 0] > 90).astype(np.uint8) * 255))
    for step in {"PA": ["P", "PA"], "RGBa": ["RGBa"], "La": ["LA", "La"]}.get(mode, [mode]):
        image = image.convert(step)
    shown = image.convert({"PA": "RGBA", "RGBa": "RGBA", "La": "LA"}.get(mode, "RGB"))
    if mode in ("L", "1", "I", "F"):
        shown = image
    expected = segmenter.segment(np.asarray(shown))
    assert np.array_equal(segmenter.segment(image).labels, expected.labels)


def test_a_palette_with_a_transparent_colour(picture, segmenter):
    image = Image.fromarray(picture).convert("P")
    image.info["transparency"] = int(np.asarray(image)[0, 0])
    labels = segmenter.segment(image).labels
    assert labels[0, 0] == 0
    assert np.array_equal(labels == 0, np.asarray(image.convert("RGBA"))[:, :, 3] < 128)


def test_a_mode_that_pil_does_not_show_is_refused(picture, segmenter):
    image = Image.frombytes("LAB", (128, 96), picture.tobytes())
    try:  # As the version of PIL is.
        shown = np.asarray(image.convert("RGB"))
    except ValueError:
        with pytest.raises(diacut.InputError, match="LAB"):
            segmenter.segment(image)
    else:
        assert np.array_equal(segmenter.segment(image).labels, segmenter.segment(shown).labels)


def test_arrays_of_others(picture, segmenter):
    class Dlpack:
        def __dlpack__(self, **settings):
            return picture.__dlpack__(**settings)

        def __dlpack_device__(self):
            return picture.__dlpack_device__()

    class Array:
        def __array__(self, dtype=None, copy=None):
            return picture

    expected = segmenter.segment(picture).labels
    for image in (Dlpack(), Array(), memoryview(picture), picture.tolist()):
        if isinstance(image, list):
            image = np.array(image, np.uint8)
        assert np.array_equal(segmenter.segment(image).labels, expected)
