"""Images that are not trusted, which a program of the package decodes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import diacut

PROGRAM = Path(diacut._core.__file__).with_name("diacut-decoder")


def servers() -> list[Path]:
    """The folders in /proc of the decoders that this process has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().partition(") ")
            if name.endswith("(diacut-decoder") and rest.split()[1] == str(os.getpid()):
                found.append(folder)
        except OSError:  # It ended meanwhile.
            continue
    return found


@pytest.fixture
def damaged(photograph, tmp_path) -> Path:
    file = tmp_path / "damaged.jpg"
    file.write_bytes(photograph.read_bytes()[:5000])
    return file


# The second one needs the module of rarer formats.
@pytest.mark.parametrize("name", ["images/cat.jpg", "tests/support/stored/small_chroma.jp2"])
def test_an_image_is_read_as_a_trusted_one(name):
    file = Path(__file__).resolve().parents[2] / name
    trusted = diacut.read_image(file)
    image = diacut.read_image(file, untrusted=True)
    assert np.array_equal(image.pixels, trusted.pixels)
    assert image.notes == trusted.notes
    by_name = diacut.read_image(file, set={"image.untrusted": True})
    assert np.array_equal(by_name.pixels, trusted.pixels)


def test_the_decoder_is_a_program_without_this_ones_memory(photograph, monkeypatch):
    monkeypatch.setenv("DIACUT_TEST_SECRET", "password")
    diacut.read_image(photograph, untrusted=True)
    (server,) = servers()
    assert "python" not in (server / "maps").read_text().replace(str(Path(diacut.__file__).parent), "")
    assert b"password" not in (server / "environ").read_bytes()
    assert not list((server / "task").glob("*"))[1:], "it has one thread"


def test_trusted_images_start_nothing(photograph):
    code = (
        "import diacut, os, sys; diacut.read_image(sys.argv[1]); "
        "print(open(f'/proc/self/task/{os.getpid()}/children').read())"
    )
    command = [sys.executable, "-c", code, str(photograph)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_every_reader_of_images_has_it(segmenter, photograph):
    labels = segmenter.segment(photograph).labels
    careful = diacut.Segmenter(config="fast", regions=6, untrusted=True)
    assert np.array_equal(careful.segment(photograph).labels, labels)
    for result in careful.map([photograph, photograph]):
        assert np.array_equal(result.labels, labels)
    assert np.array_equal(
        diacut.segment(photograph, 6, config="fast", untrusted=True).labels, labels
    )
    estimator = diacut.NormalizedCut(6, config="fast", untrusted=True)
    assert np.array_equal(estimator.fit_predict(photograph), labels)
    assert careful.parameters["image.untrusted"] is True


def test_a_damaged_image_is_refused_with_the_same_words(photograph, damaged):
    with pytest.raises(diacut.FileError) as trusted:
        diacut.read_image(damaged)
    with pytest.raises(diacut.FileError) as untrusted:
        diacut.read_image(damaged, untrusted=True)
    assert str(untrusted.value) == str(trusted.value)
    diacut.read_image(photograph, untrusted=True)  # The next one is read.


def test_limits_are_held(tmp_path):
    file = tmp_path / "large.ppm"
    file.write_bytes(b"P6 6000 5000 255\n" + bytes(6000 * 5000 * 3))
    with pytest.raises(diacut.FileError, match="more memory than 64 MiB"):
        diacut.read_image(file, untrusted=True, set={"image.decoding_memory": 64})
    assert diacut.read_image(file, untrusted=True).shape == (5000, 6000, 3)


def test_threads_share_the_decoder(photograph):
    expected = diacut.read_image(photograph).pixels
    stop = threading.Event()

    def take_memory() -> None:
        while not stop.is_set():
            bytearray(1 << 20)

    busy = threading.Thread(target=take_memory)
    busy.start()
    with ThreadPoolExecutor(4) as pool:
        images = list(pool.map(lambda _: diacut.read_image(photograph, untrusted=True), range(8)))
    stop.set()
    busy.join()
    assert all(np.array_equal(image.pixels, expected) for image in images)


def _read_in_copy(path: str, shape: tuple[int, ...]) -> None:
    assert diacut.read_image(path, untrusted=True).shape == shape
    assert len(servers()) == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_process_of_multiprocessing_has_its_own(photograph, method):
    shape = diacut.read_image(photograph, untrusted=True).shape
    process = multiprocessing.get_context(method).Process(
        target=_read_in_copy, args=(str(photograph), shape)
    )
    process.start()
    process.join(120)
    assert process.exitcode == 0
    diacut.read_image(photograph, untrusted=True)  # That of this process goes on.


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("/nowhere/diacut-decoder", "/nowhere/diacut-decoder.*install diacut again"),
        ("/tmp", "'/tmp' cannot be started"),
        ("/bin/true", "server has ended"),
    ],
)
def test_a_wrong_program_is_told(photograph, other, told):
    assert PROGRAM.is_file() and os.access(PROGRAM, os.X_OK)
    diacut._core.use_sandbox_program(os.fsencode(other))
    try:
        with pytest.raises(diacut.FileError, match=told):
            diacut.read_image(photograph, untrusted=True)
        assert diacut.read_image(photograph).shape
    finally:
        diacut._core.use_sandbox_program(os.fsencode(PROGRAM))
    assert diacut.read_image(photograph, untrusted=True).shape


def test_the_program_does_nothing_by_hand():
    done = subprocess.run([PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "does nothing by itself" in done.stderr


def test_a_wrong_argument_is_told(photograph):
    with pytest.raises(diacut.ConfigError, match="image.untrusted is 'maybe'"):
        diacut.read_image(photograph, untrusted="maybe")
