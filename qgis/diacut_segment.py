"""A Processing algorithm of QGIS that divides a raster into regions with the program `segment` of diacut.

To install it: Processing toolbox, the menu with Python's sign, "Add Script to Toolbox...". The program is
looked for in PATH, unless the environment variable DIACUT_SEGMENT or the parameter PROGRAM names it."""

import os
import subprocess
import tempfile

from qgis.core import (
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingParameterBand,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterDestination,
    QgsProcessingParameterRasterLayer,
    QgsProcessingParameterString,
    QgsProcessingParameterVectorDestination,
)


class DiacutSegment(QgsProcessingAlgorithm):
    INPUT = "INPUT"
    BANDS = "BANDS"
    REGIONS = "REGIONS"
    THRESHOLD = "THRESHOLD"
    MIN_SIZE = "MIN_SIZE"
    DETAIL = "DETAIL"
    EXTRA = "EXTRA"
    PROGRAM = "PROGRAM"
    OUTPUT = "OUTPUT"
    LABELS = "LABELS"

    def name(self):
        return "diacut_segment"

    def displayName(self):
        return "Segment by normalized cuts (diacut)"

    def group(self):
        return "Image segmentation"

    def groupId(self):
        return "image_segmentation"

    def shortHelpString(self):
        return (
            "Divides a raster into regions by normalized cuts. Each region is a polygon with holes whose fields "
            "are its label, its area, and the mean, standard deviation, least and greatest value of each band.\n\n"
            "Bands: none, one (as grey) or three (as red, green and blue, in the order of their numbers). "
            "Without a choice all bands decide.\n"
            "Number of regions: 0 lets the boundaries decide, by the threshold.\n"
            "Detail: native finds regions in the raster itself; a number of pixels in its reduction to that size."
        )

    def createInstance(self):
        return DiacutSegment()

    def initAlgorithm(self, configuration=None):
        self.addParameter(QgsProcessingParameterRasterLayer(self.INPUT, "Raster"))
        self.addParameter(
            QgsProcessingParameterBand(
                self.BANDS, "Bands that decide (one or three)", None, self.INPUT, optional=True, allowMultiple=True))
        self.addParameter(
            QgsProcessingParameterNumber(
                self.REGIONS, "Number of regions", QgsProcessingParameterNumber.Integer, 0, minValue=0))
        self.addParameter(
            QgsProcessingParameterNumber(
                self.THRESHOLD, "Threshold of boundaries that are merged over", QgsProcessingParameterNumber.Double,
                None, optional=True, minValue=0, maxValue=1))
        self.addParameter(
            QgsProcessingParameterString(self.MIN_SIZE, "Least size of regions (pixels, a share as 0.2%, or auto)",
                                         "auto"))
        self.addParameter(QgsProcessingParameterString(self.DETAIL, "Detail (pixels, or native)", "640"))
        for name, meaning in (
                (self.EXTRA, "More options of segment, separated by spaces"), (self.PROGRAM, "Program")):
            parameter = QgsProcessingParameterString(name, meaning, "", optional=True)
            parameter.setFlags(parameter.flags() | QgsProcessingParameterDefinition.FlagAdvanced)
            self.addParameter(parameter)
        self.addParameter(
            QgsProcessingParameterVectorDestination(self.OUTPUT, "Regions", QgsProcessing.TypeVectorPolygon))
        self.addParameter(
            QgsProcessingParameterRasterDestination(self.LABELS, "Labels", optional=True, createByDefault=False))

    def processAlgorithm(self, parameters, context, feedback):
        layer = self.parameterAsRasterLayer(parameters, self.INPUT, context)
        if layer is None:
            raise QgsProcessingException(self.invalidRasterError(parameters, self.INPUT))
        if layer.dataProvider().name() != "gdal":
            raise QgsProcessingException("The raster must be one that GDAL reads: save it as a GeoTIFF first.")
        source = layer.source()
        regions = self.parameterAsOutputLayer(parameters, self.OUTPUT, context)
        labels = self.parameterAsOutputLayer(parameters, self.LABELS, context)
        program = (self.parameterAsString(parameters, self.PROGRAM, context)
                   or os.environ.get("DIACUT_SEGMENT") or "segment")

        cut = ["--min-size", self.parameterAsString(parameters, self.MIN_SIZE, context)]
        count = self.parameterAsInt(parameters, self.REGIONS, context)
        if count > 0:
            cut += ["--regions", str(count)]
        elif parameters.get(self.THRESHOLD) is not None:
            cut += ["--threshold", str(self.parameterAsDouble(parameters, self.THRESHOLD, context))]
        options = ["--detail", self.parameterAsString(parameters, self.DETAIL, context)]
        bands = self.parameterAsInts(parameters, self.BANDS, context)
        if bands:
            options += ["--bands", ",".join(str(band) for band in bands)]
        options += self.parameterAsString(parameters, self.EXTRA, context).split()

        if not labels:
            run([program, source, "-o", regions] + cut + options, feedback)
            return {self.OUTPUT: regions}
        with tempfile.TemporaryDirectory() as folder:
            tree = os.path.join(folder, "regions.tree")
            run([program, source, "-o", labels, "--tree", tree] + cut + options, feedback)
            run([program, "recut", tree, "--image", source, "-o", regions] + cut, feedback)
        return {self.OUTPUT: regions, self.LABELS: labels}


def run(command, feedback):
    """Runs a command, shows what it says, and stops it when the user does. A failure raises."""
    feedback.pushCommandInfo(" ".join(command))
    with tempfile.TemporaryFile() as messages:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages)
        except OSError as error:
            raise QgsProcessingException(
                f"{command[0]} cannot be run ({error.strerror}): install diacut, or name its program segment") from None
        while True:
            try:
                code = process.wait(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                if feedback.isCanceled():
                    process.terminate()
        messages.seek(0)
        text = messages.read().decode(errors="replace").strip()
    if feedback.isCanceled():
        return
    if code not in (0, 5):  # 5: the eigenvectors missed their tolerance, but all results are there.
        raise QgsProcessingException(text or f"segment ended with {code}")
    feedback.pushInfo(text)
