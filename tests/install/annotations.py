"""annotations.py SEGMENT FOLDER: annotations of regions, read by the formats' own libraries, are the
regions' masks pixel for pixel."""

import base64
import csv
import io
import json
import random
import subprocess
import sys
from pathlib import Path

import networkx
import numpy as np
from lxml import etree
from PIL import Image
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO
from shapely.geometry import Polygon, shape
from skimage import measure

SEGMENT = sys.argv[1]
FOLDER = Path(sys.argv[2]).resolve()


def neighbour_pairs(labels):
    pairs = {}
    for a, b in ((labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])):
        for first, second in zip(a.ravel().tolist(), b.ravel().tolist()):
            if first != second and first and second:
                key = (min(first, second), max(first, second))
                pairs[key] = pairs.get(key, 0) + 1
    return pairs


def filled(rings, size):
    """The pixels whose centres are inside rings by the even-odd rule."""
    centres = np.indices(size).reshape(2, -1).T[:, ::-1] + 0.5
    inside = [measure.points_in_poly(centres, ring) for ring in rings]
    return np.logical_xor.reduce(inside).reshape(size)


def integers(points):
    rounded = [(round(x), round(y)) for x, y in points]
    assert all(abs(x - a) + abs(y - b) < 1e-3 for (x, y), (a, b) in zip(points, rounded))
    return rounded


def check(mask, labels, label, what):
    assert mask.shape == labels.shape, what
    assert np.array_equal(mask.astype(bool), labels == label), f"{what}: region {label}"


def check_valid(rings, what):
    assert Polygon(rings[0], rings[1:]).is_valid, what


def check_coco(path, labels, every_rle):
    coco = COCO(str(path))
    assert len(coco.anns) == labels.max()
    kinds = set()
    for annotation in coco.anns.values():
        label = annotation["attributes"]["label"]
        check(coco.annToMask(annotation), labels, label, path)
        rle = coco.annToRLE(annotation)
        assert coco_mask.area(rle) == annotation["area"]
        assert coco_mask.toBbox(rle).tolist() == annotation["bbox"]
        kinds.add(type(annotation["segmentation"]))
        if isinstance(annotation["segmentation"], list):
            points = annotation["segmentation"][0]
            check_valid([list(zip(points[::2], points[1::2]))], path)
        elif not every_rle:
            assert "counts" in annotation["segmentation"]
    assert (kinds == {dict}) if every_rle else (dict in kinds and list in kinds)


def check_labelme(path, labels, image_name):
    data = json.loads(path.read_text())
    assert data["imagePath"] == image_name and (path.parent / data["imagePath"]).exists()
    assert (data["imageHeight"], data["imageWidth"]) == labels.shape
    seen = set()
    for item in data["shapes"]:
        label = int(item["description"].split()[1])
        seen.add(label)
        if item["shape_type"] == "polygon":
            ring = [tuple(p) for p in item["points"]]
            check_valid([ring], path)
            check(filled([ring], labels.shape), labels, label, path)
            continue
        (x0, y0), (x1, y1) = item["points"]
        mask = np.zeros(labels.shape, bool)
        mask[y0:y1 + 1, x0:x1 + 1] = np.array(Image.open(io.BytesIO(base64.b64decode(item["mask"]))))
        check(mask, labels, label, path)
    assert seen == set(range(1, labels.max() + 1))


def check_yolo(path, labels):
    height, width = labels.shape
    lines = path.read_text().splitlines()
    assert len(lines) == labels.max()
    for label, line in enumerate(lines, 1):
        category, *values = line.split()
        assert category == "0"
        values = [float(v) for v in values]
        assert all(0 <= v <= 1 for v in values) and len(values) >= 8
        ring = integers([(x * width, y * height) for x, y in zip(values[::2], values[1::2])])
        check(filled([ring], labels.shape), labels, label, path)


def check_label_studio(path, labels):
    from label_studio_converter.brush import decode_rle
    height, width = labels.shape
    tasks = json.loads(path.read_text())
    assert tasks[0]["data"]["image"].startswith("/data/local-files/?d=a%20%26%20%3Cb%3E%22c%22")
    kinds = set()
    results = tasks[0]["predictions"][0]["result"]
    assert len(results) == labels.max()
    for result in results:
        label = int(result["meta"]["text"][0])
        kinds.add(result["type"])
        assert (result["original_width"], result["original_height"]) == (width, height)
        value = result["value"]
        if result["type"] == "brushlabels":
            mask = np.reshape(decode_rle(value["rle"]), (height, width, 4))
            assert all(np.array_equal(mask[..., 3], mask[..., c]) for c in range(3))
            check(mask[..., 3] == 255, labels, label, path)
        else:
            ring = integers([(x * width / 100, y * height / 100) for x, y in value["points"]])
            check_valid([ring], path)
            check(filled([ring], labels.shape), labels, label, path)
    assert kinds == {"brushlabels", "polygonlabels"}


def check_cvat(path, labels, image_name):
    root = etree.parse(str(path)).getroot()
    assert root.findtext("version") == "1.1"
    assert root.findtext("meta/task/labels/label/name") == "region"
    (image,) = root.findall("image")
    assert image.get("name") == image_name
    assert (int(image.get("height")), int(image.get("width"))) == labels.shape
    elements = list(image)
    assert {e.tag for e in elements} == {"mask", "polygon"} and len(elements) == labels.max()
    for element in elements:
        label = int(element.findtext("attribute"))
        if element.tag == "polygon":
            ring = [tuple(map(float, p.split(","))) for p in element.get("points").split(";")]
            check_valid([ring], path)
            check(filled([ring], labels.shape), labels, label, path)
            continue
        x, y, w, h = (int(element.get(k)) for k in ("left", "top", "width", "height"))
        runs = [int(n) for n in element.get("rle").split(",")]
        mask = np.zeros(labels.shape, bool)
        values = np.repeat(np.arange(len(runs)) % 2, runs)
        mask[y:y + h, x:x + w] = values.reshape(h, w)
        check(mask, labels, label, path)


def check_geojson(path, labels):
    features = json.loads(path.read_text())["features"]
    assert len(features) == labels.max()
    for feature in features:
        label = feature["properties"]["label"]
        geometry = shape(feature["geometry"])
        assert geometry.is_valid and geometry.area == (labels == label).sum()
        assert geometry.exterior.is_ccw and not any(r.is_ccw for r in geometry.interiors)
        rings = [[tuple(p) for p in ring[:-1]] for ring in feature["geometry"]["coordinates"]]
        check(filled(rings, labels.shape), labels, label, path)


def check_svg(path, labels, name):
    root = etree.parse(str(path)).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.findtext(space + "title") == name
    paths = root.findall(f".//{space}path")
    assert len(paths) == labels.max()
    for element in paths:
        rings = []
        for part in element.get("d").split("Z")[:-1]:
            text = part[1:].replace("H", " H").replace("V", " V").split()
            ring = [(int(text[0]), int(text[1]))]
            for step in text[2:]:
                x, y = ring[-1]
                ring.append((int(step[1:]), y) if step[0] == "H" else (x, int(step[1:])))
            rings.append(ring)
        check(filled(rings, labels.shape), labels, int(element.get("id").split("-")[1]), path)


def check_table(path, labels, pixels):
    pairs = neighbour_pairs(labels)
    rows = list(csv.DictReader(path.open()))
    assert len(rows) == labels.max()
    for row in rows:
        label = int(row["label"])
        ys, xs = np.nonzero(labels == label)
        assert int(row["area"]) == len(xs)
        assert [int(row[k]) for k in ("x", "y", "width", "height")] == [
            xs.min(), ys.min(), np.ptp(xs) + 1, np.ptp(ys) + 1]
        assert np.isclose(float(row["centroid_x"]), xs.mean())
        assert np.isclose(float(row["centroid_y"]), ys.mean())
        squares = [Polygon([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)]) for x, y in zip(xs, ys)]
        hull = shape({"type": "MultiPolygon", "coordinates": [
            [list(s.exterior.coords)] for s in squares]}).convex_hull
        assert np.isclose(float(row["solidity"]), len(xs) / hull.area)
        padded = np.pad(labels == label, 1)
        sides = (padded[1:] != padded[:-1]).sum() + (padded[:, 1:] != padded[:, :-1]).sum()
        assert int(row["sides"]) == sides
        for band, name in enumerate(("red", "green", "blue")):
            values = pixels[ys, xs, band].astype(float)
            for what, value in (("mean", values.mean()), ("std", values.std()), ("min", values.min()),
                                ("max", values.max()), ("median", np.median(values)),
                                ("integrated", values.sum())):
                assert np.isclose(float(row[f"{what}_{name}"]), value, rtol=1e-6), (what, name)
        near = sorted({a + b - label for a, b in pairs if label in (a, b)})
        assert int(row["neighbours"]) == len(near)
        assert [int(n) for n in row["neighbour_labels"].split()] == near


def check_graph(graphml, edges, labels):
    pairs = neighbour_pairs(labels)
    graph = networkx.read_graphml(graphml)
    assert len(graph) == labels.max() and not graph.is_directed()
    assert {(int(a), int(b)): d["length"] for a, b, d in graph.edges(data=True)} == pairs
    rows = list(csv.DictReader(edges.open()))
    assert {(int(r["source"]), int(r["target"])): int(r["length"]) for r in rows} == pairs


def hard_labels():
    """Regions with holes, of one pixel, that touch the border, themselves or others at a corner."""
    draw = random.Random(5)
    classes = np.array([[draw.choice((0, 1, 1, 1, 2, 3)) for _ in range(31)] for _ in range(23)])
    classes[5:18, 6:20] = 4
    classes[8:12, 9:13] = 5
    classes[9, 10] = 0
    classes[14:17, 10:18] = [[4, 4, 1, 4, 4, 2, 2, 4], [4, 1, 4, 4, 2, 4, 4, 4], [4, 4, 1, 4, 2, 2, 2, 4]]
    return measure.label(classes, background=0, connectivity=1).astype(np.int32)


name = 'a & <b>"c".png'
labels = hard_labels()
Image.fromarray(labels).save(FOLDER / "labels.tif")
pixels = np.random.default_rng(1).integers(0, 256, (*labels.shape, 3), np.uint8)
Image.fromarray(pixels).save(FOLDER / name)


def annotate(*options):
    """What the program says of the labels."""
    done = subprocess.run([SEGMENT, "annotate", "labels.tif", "--image", name, *options],
                          capture_output=True, text=True, cwd=FOLDER)
    assert done.returncode == 0, done.stderr
    return done.stderr


said = annotate("-o", "same.tif", "--coco", "coco.json", "--labelme", "labelme.json",
                "--yolo", "yolo.txt", "--label-studio", "studio.json", "--cvat", "cvat.xml",
                "--svg", "outlines.svg", "--geojson", "regions.geojson", "--table", "regions.csv",
                "--region-graph", "regions.graphml")
for option in ("--coco", "--labelme", "--yolo", "--label-studio", "--cvat"):
    assert f"{option}: " in said and "have holes" in said, said
assert np.array_equal(np.array(Image.open(FOLDER / "same.tif")), labels)
annotate("--coco", "rle.json", "--rle", "--region-graph", "edges.csv")
check_coco(FOLDER / "coco.json", labels, False)
check_coco(FOLDER / "rle.json", labels, True)
check_labelme(FOLDER / "labelme.json", labels, name)
check_yolo(FOLDER / "yolo.txt", labels)
check_label_studio(FOLDER / "studio.json", labels)
check_cvat(FOLDER / "cvat.xml", labels, name)
check_geojson(FOLDER / "regions.geojson", labels)
check_svg(FOLDER / "outlines.svg", labels, name)
check_table(FOLDER / "regions.csv", labels, pixels)
check_graph(FOLDER / "regions.graphml", FOLDER / "edges.csv", labels)
print("every mask is equal")
