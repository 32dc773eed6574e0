"""The widget of the napari plugin: regions of an image layer, and a slider through their hierarchy."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from napari.layers import Image as ImageLayer
from napari.qt.threading import create_worker
from napari.utils.notifications import show_error, show_info
from numpy.typing import NDArray
from qtpy.QtCore import Qt, Signal
from qtpy.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from ._core import list_devices, preset_names
from ._errors import Error
from ._hierarchy import Hierarchy
from ._result import Result
from ._segmenter import shared_segmenter

if TYPE_CHECKING:
    from napari.viewer import Viewer

#: Positions of the slider; the numbers of regions grow by equal ratios.
_POSITIONS = 200


class _Stopped(Exception):
    """The user has pressed Stop."""


class RegionsWidget(QWidget):  # type: ignore[misc,unused-ignore]
    """Chooses image, device and parameters, runs in a thread of its own, and cuts the hierarchy."""

    _told = Signal(str, float)

    def __init__(self, napari_viewer: Viewer) -> None:
        super().__init__()
        self._viewer = napari_viewer
        self._worker: Any = None
        self._stopping = False
        self._hierarchy: Hierarchy | None = None
        self._labels: Any = None
        self._counts: list[int] = [1]
        self._build()
        self._told.connect(self._show_progress)
        for event in (napari_viewer.layers.events.inserted, napari_viewer.layers.events.removed):
            event.connect(self._list_images)
        self._list_images()
        self._list_devices()

    def _build(self) -> None:
        self.image = QComboBox()
        self.device = QComboBox()
        self.preset = QComboBox()
        self.preset.addItems(preset_names())
        self.preset.setCurrentText("default")
        self.boundary = QComboBox()
        self.boundary.addItems(["learned", "gradient"])
        self.run = QPushButton("Run")
        self.run.clicked.connect(self.start)
        self.stop = QPushButton("Stop")
        self.stop.setEnabled(False)
        self.stop.clicked.connect(self._stop)
        self.progress = QProgressBar()
        self.progress.setFormat("")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setEnabled(False)
        self.slider.valueChanged.connect(self._cut)
        self.count = QLabel("run first")

        form = QFormLayout()
        form.addRow("Image", self.image)
        form.addRow("Device", self.device)
        form.addRow("Preset", self.preset)
        form.addRow("Boundaries", self.boundary)
        buttons = QHBoxLayout()
        buttons.addWidget(self.run)
        buttons.addWidget(self.stop)
        cut = QFormLayout()
        cut.addRow("Regions", self.slider)
        cut.addRow("", self.count)
        layout = QVBoxLayout(self)
        for part in (form, buttons):
            layout.addLayout(part)
        layout.addWidget(self.progress)
        layout.addLayout(cut)
        layout.addStretch()

    def _list_images(self, event: object = None) -> None:
        chosen = self.image.currentText()
        self.image.clear()
        self.image.addItems([each.name for each in self._viewer.layers if isinstance(each, ImageLayer)])
        if self.image.findText(chosen) >= 0:
            self.image.setCurrentText(chosen)

    def _list_devices(self) -> None:
        try:
            for device in list_devices():
                self.device.addItem(f"{device.kind}: {device.name}", device.index)
        except Error as error:
            show_error(str(error))

    def start(self) -> None:
        """Segments the chosen image in another thread."""
        name = self.image.currentText()
        if name not in self._viewer.layers:
            show_error("Open an image first: diacut segments an image layer.")
            return
        layer = self._viewer.layers[name]
        pixels = displayed_pixels(layer, self._viewer.dims.current_step)
        self._stopping = False
        self.run.setEnabled(False)
        self.stop.setEnabled(True)
        self._worker = create_worker(
            self._segment,
            pixels,
            device=self.device.currentData(),
            config=self.preset.currentText(),
            boundary=self.boundary.currentText(),
            _connect={
                "returned": lambda result: self._show(layer, result),
                "errored": self._fail,
                "finished": self._end,
            },
        )

    def _segment(self, pixels: NDArray[Any], **settings: Any) -> Result | None:
        try:
            return shared_segmenter(**settings).segment(pixels, progress=self._tell)
        except _Stopped:
            return None

    def _tell(self, stage: str, share: float) -> None:
        """Called in the worker's thread."""
        if self._stopping:
            raise _Stopped
        self._told.emit(stage, share)

    def _show_progress(self, stage: str, share: float) -> None:
        self.progress.setFormat(stage)
        self.progress.setValue(round(100 * share))

    def _stop(self) -> None:
        self._stopping = True

    def _fail(self, error: Exception) -> None:
        show_error(str(error))

    def _end(self) -> None:
        self.run.setEnabled(True)
        self.stop.setEnabled(False)
        self.progress.setFormat("")
        self.progress.reset()

    def _show(self, layer: Any, result: Result | None) -> None:
        if result is None or result.hierarchy is None:
            return
        for note in result.notes:
            show_info(note)
        self._hierarchy = result.hierarchy
        name = f"regions of {layer.name}"
        if name in self._viewer.layers:
            self._labels = self._viewer.layers[name]
            self._labels.data = result.labels
        else:
            self._labels = self._viewer.add_labels(
                result.labels,
                name=name,
                scale=layer.scale[-2:],
                translate=layer.translate[-2:],
                opacity=0.5,
            )
        leaves = self._hierarchy.leaf_count
        counts = np.unique(np.rint(np.geomspace(1, max(leaves, 1), _POSITIONS)).astype(int))
        self._counts = counts.tolist()
        self.slider.blockSignals(True)
        self.slider.setRange(0, len(self._counts) - 1)
        self.slider.setValue(int(np.searchsorted(counts, result.count)))
        self.slider.blockSignals(False)
        self.slider.setEnabled(True)
        self.count.setText(f"{result.count} regions (automatic)")

    def _cut(self, position: int) -> None:
        if self._hierarchy is None or self._labels not in self._viewer.layers:
            return
        with warnings.catch_warnings():
            # The label below the slider shows how many regions there are.
            warnings.simplefilter("ignore")
            labels = self._hierarchy.cut(self._counts[position])
        self._labels.data = labels
        self.count.setText(f"{labels.max()} regions")


def displayed_pixels(layer: Any, step: tuple[int, ...]) -> NDArray[Any]:
    """The plane of an image layer that the viewer shows: (height, width), or with channels behind."""
    data = layer.data[0] if layer.multiscale else layer.data
    planes = data.ndim - (3 if layer.rgb else 2)
    if planes > 0:
        own = step[len(step) - planes - 2 : len(step) - 2]
        data = data[tuple(min(at, size - 1) for at, size in zip(own, data.shape))]
    return np.asarray(data)
