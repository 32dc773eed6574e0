"""The napari plugin in a real napari: found by its manifest, run, moved through the hierarchy.

DIACUT_SCREENSHOT names a file for a picture of the window."""

from __future__ import annotations

import os
import time
from pathlib import Path

import napari
import npe2
import numpy as np
import pytest
from qtpy.QtWidgets import QApplication

import diacut
from diacut._napari import displayed_pixels

PHOTOGRAPH = Path(__file__).resolve().parents[3] / "images" / "cat.jpg"


@pytest.fixture
def viewer():
    viewer = napari.Viewer(show=True)
    viewer.window.resize(1200, 750)
    yield viewer
    viewer.close()


@pytest.fixture
def widget(viewer):
    _, widget = viewer.window.add_plugin_dock_widget("diacut", "Regions")
    return widget


def wait(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the widget did not get there"
        QApplication.processEvents()
        time.sleep(0.01)


def run(widget):
    widget.run.click()
    assert not widget.run.isEnabled() and widget.stop.isEnabled()
    wait(widget.run.isEnabled)


@pytest.fixture(scope="module")
def photograph():
    return np.rint(diacut.read_image(PHOTOGRAPH).pixels * 255).astype(np.uint8)


def test_manifest():
    manifest = npe2.PluginManifest.from_distribution("diacut")
    manifest.validate_imports()
    assert [each.display_name for each in manifest.contributions.widgets] == ["Regions"]


def test_run_and_slide(viewer, widget, photograph):
    viewer.add_image(photograph, name="cat", scale=(2, 2), translate=(5, 7))
    assert widget.image.currentText() == "cat"
    assert widget.device.currentData() in [each.index for each in diacut.list_devices()]
    widget.preset.setCurrentText("fast")
    run(widget)
    layer = viewer.layers["regions of cat"]
    expected = diacut.segment(photograph, config="fast", device=widget.device.currentData())
    assert np.array_equal(layer.data, expected.labels)
    assert tuple(layer.scale) == (2, 2) and tuple(layer.translate) == (5, 7)
    assert widget.count.text() == f"{expected.count} regions (automatic)"

    counts = []
    for position in range(0, widget.slider.maximum() + 1, 20):
        widget.slider.setValue(position)
        counts.append(int(layer.data.max()))
        assert widget.count.text() == f"{counts[-1]} regions"
    assert counts == sorted(counts) and counts[0] == 1 and counts[-1] > 50
    widget.slider.setValue(widget._counts.index(12))
    assert np.array_equal(layer.data, expected.hierarchy.cut(12))
    viewer.reset_view()
    QApplication.processEvents()
    screenshot = os.environ.get("DIACUT_SCREENSHOT")
    if screenshot:
        viewer.window.screenshot(screenshot, canvas_only=False)

    widget.boundary.setCurrentText("gradient")
    run(widget)
    assert len(viewer.layers) == 2
    gradient = diacut.segment(photograph, config="fast", boundary="gradient")
    assert np.array_equal(layer.data, gradient.labels)


def test_stop(viewer, widget):
    noise = np.random.default_rng(1).integers(0, 255, (1200, 1600), np.uint8)
    viewer.add_image(noise, name="noise")
    widget.run.click()
    wait(lambda: widget.progress.format() != "")
    widget.stop.click()
    wait(widget.run.isEnabled)
    assert "regions of noise" not in viewer.layers


def test_an_error_is_shown(viewer, widget, capsys):
    from napari.utils.notifications import notification_manager

    widget.start()
    assert "Open an image" in notification_manager.records[-1].message
    viewer.add_image(np.full((8, 8), np.nan), name="empty")
    run(widget)
    assert "not finite" in notification_manager.records[-1].message
    assert not widget.slider.isEnabled()


def test_the_plane_that_is_shown(viewer, photograph):
    stack = viewer.add_image(np.arange(5 * 8 * 9).reshape(5, 8, 9), name="stack")
    assert np.array_equal(displayed_pixels(stack, (3, 0, 0)), stack.data[3])
    flat = viewer.add_image(np.ones((8, 9)), name="flat")
    assert displayed_pixels(flat, (3, 0, 0)).shape == (8, 9)
    colours = viewer.add_image(np.stack([photograph] * 2), name="film", rgb=True)
    assert np.array_equal(displayed_pixels(colours, (1, 0, 0)), photograph)
    pyramid = viewer.add_image([photograph, photograph[::2, ::2]], name="pyramid", rgb=True)
    assert np.array_equal(displayed_pixels(pyramid, (0, 0, 0)), photograph)
