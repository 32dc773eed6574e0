"""maps.py SEGMENT FOLDER: scenes of fields through the program; what gdalinfo and ogrinfo say of the results is
what the scenes say, and NumPy's statistics are those of the polygons."""

import json
import math
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from osgeo import gdal, ogr, osr

SEGMENT = sys.argv[1]
FOLDER = Path(sys.argv[2]).resolve()
WIDTH, HEIGHT, BANDS = 96, 64, 6
gdal.UseExceptions()
ogr.UseExceptions()


def make_scene(path, epsg=32632, transform=(600000, 10, 0, 5300000, 0, -10), driver="GTiff"):
    """Fields of several crops with noise, and a corner without data."""
    random = np.random.default_rng(3)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    field = (x * 3 // WIDTH + 3 * (y * 2 // HEIGHT)).astype(int)
    crops = random.uniform(300, 4000, (6, BANDS))
    memory = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT, BANDS, gdal.GDT_UInt16)
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(epsg)
    memory.SetProjection(reference.ExportToWkt())
    memory.SetGeoTransform(transform)
    for band in range(BANDS):
        values = np.rint(crops[field, band] + random.normal(0, 30, field.shape)).clip(1)
        values[:6, :9] = 0
        memory.GetRasterBand(band + 1).WriteArray(values.astype(np.uint16))
        memory.GetRasterBand(band + 1).SetNoDataValue(0)
    options = ["COMPRESSED=YES"] if driver == "HFA" else ["COMPRESS=DEFLATE"]
    gdal.GetDriverByName(driver).CreateCopy(str(path), memory, options=options)


def segment(*arguments, ends_with=0):
    done = subprocess.run([SEGMENT, *map(str, arguments)], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == ends_with, (arguments, done.returncode, done.stderr)
    return done.stderr


def info(name):
    return json.loads(subprocess.run(["gdalinfo", "-json", FOLDER / name], check=True, capture_output=True).stdout)


def feature_count(name):
    text = subprocess.run(["ogrinfo", "-so", "-al", FOLDER / name], check=True, capture_output=True, text=True).stdout
    return int(next(line for line in text.splitlines() if line.startswith("Feature Count")).split(":")[1])


def check_raster(name, cloud_optimised=False):
    scene, labels = info("scene.tif"), info(name)
    for key in ("coordinateSystem", "geoTransform", "size", "cornerCoordinates"):
        assert labels[key] == scene[key], (name, key)
    band = labels["bands"][0]
    assert band["type"] == "UInt32" and band["noDataValue"] == 0, band
    structure = labels["metadata"]["IMAGE_STRUCTURE"]
    assert structure["COMPRESSION"] == "DEFLATE", structure
    assert (structure.get("LAYOUT") == "COG") == cloud_optimised, structure
    if not cloud_optimised:
        assert band["block"] == [256, 256], band
    return gdal.Open(str(FOLDER / name)).ReadAsArray()


def check_polygons(name, labels, bands):
    count = int(labels.max())
    assert feature_count(name) == count, (name, feature_count(name), count)
    dataset = ogr.Open(str(FOLDER / name))
    layer = dataset.GetLayer(0)
    for feature in layer:
        label = feature["label"]
        mask = labels == label
        assert feature.GetGeometryRef().IsValid(), (name, label)
        assert feature["pixels"] == mask.sum() and feature["area"] == 100 * mask.sum(), (name, label)
        for band in range(BANDS):
            values = bands[band][mask].astype(float)
            for figure, expected in (("mean", values.mean()), ("std", values.std()), ("min", values.min()),
                                     ("max", values.max())):
                found = feature[f"b{band + 1}_{figure}"]
                assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9), (name, label, band, figure)


def check_burnt(name, labels):
    """Burning polygons back gives the labels, pixel by pixel."""
    scene = gdal.Open(str(FOLDER / "scene.tif"))
    burnt = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT, 1, gdal.GDT_UInt32)
    burnt.SetGeoTransform(scene.GetGeoTransform())
    burnt.SetProjection(scene.GetProjection())
    vectors = gdal.OpenEx(str(FOLDER / name), gdal.OF_VECTOR)
    gdal.RasterizeLayer(burnt, [1], vectors.GetLayer(0), options=["ATTRIBUTE=label"])
    assert np.array_equal(burnt.ReadAsArray(), labels), name


def check_geojson(name, count):
    collection = json.loads((FOLDER / name).read_text())
    assert "crs" not in collection and len(collection["features"]) == count
    for feature in collection["features"]:
        shape = feature["geometry"]
        assert shape["type"] in ("Polygon", "MultiPolygon"), shape["type"]
        for polygon in shape["coordinates"] if shape["type"] == "MultiPolygon" else [shape["coordinates"]]:
            for number, ring in enumerate(polygon):
                area = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:]))
                # RFC 7946, 3.1.6: outer rings go counterclockwise, holes clockwise.
                assert (area > 0) == (number == 0), (name, number)
                assert all(10.3 < x < 10.4 and 47.8 < y < 47.9 for x, y in ring)


def main():
    make_scene(FOLDER / "scene.tif")
    common = ["--cue", "gradient", "--regions", "6", "--min-size", "40"]
    told = segment("scene.tif", "-o", "labels.tif", "--tree", "a.tree", *common)
    assert "All of its 6 bands" in told and "54 of 6144 pixels" in told, told
    labels = check_raster("labels.tif")
    assert (labels == 0).sum() == 54 and labels.max() == 6, labels.max()
    segment("scene.tif", "-o", "cog.tif", "--cog", *common)
    assert np.array_equal(check_raster("cog.tif", cloud_optimised=True), labels)
    bands = gdal.Open(str(FOLDER / "scene.tif")).ReadAsArray()
    for name in ("regions.gpkg", "regions.shp"):
        segment("scene.tif", "-o", name, *common)
        check_polygons(name, labels, bands)
        check_burnt(name, labels)
    segment("scene.tif", "-o", "regions.geojson", *common)
    assert feature_count("regions.geojson") == 6
    check_geojson("regions.geojson", 6)
    segment("recut", "a.tree", "--regions", "6", "--min-size", "40", "--image", "scene.tif", "-o", "recut.gpkg")
    check_polygons("recut.gpkg", labels, bands)
    make_scene(FOLDER / "scene.img", driver="HFA")
    segment("scene.img", "-o", "imagine.tif", "--bands", "4,3,2", *common)
    assert info("imagine.tif")["geoTransform"] == info("scene.tif")["geoTransform"]
    with zipfile.ZipFile(FOLDER / "scenes.zip", "w") as archive:
        archive.write(FOLDER / "scene.tif", "deep/scene.tif")
    segment("/vsizip/scenes.zip/deep/scene.tif", "-o", "zipped.tif", *common)
    assert np.array_equal(check_raster("zipped.tif"), labels)
    segment("scene.tif", "-o", "none.tif", "--bands", "7", *common, ends_with=3)
    assert not (FOLDER / "none.tif").exists()
    print("maps: all is as it should be")


main()
