"""Tests of app/learn. SOURCE names the project's folder; segment and diacut-evaluate are on the path."""
import json
import os
import subprocess
import sys
import unittest

import numpy as np
from PIL import Image, ImageDraw
from scipy.io import savemat

SOURCE = os.environ["SOURCE"]
sys.path.insert(0, f"{SOURCE}/app/learn")
import drawn  # noqa: E402
import pictures  # noqa: E402
import torch  # noqa: E402
import weather  # noqa: E402
from crops import Crops  # noqa: E402
from data import Pictures  # noqa: E402
from embedding import loss_of  # noqa: E402
from network import SIZES, BoundaryNet, Embedding, graph_of, load, save  # noqa: E402
from run_file import read_file, run_graph  # noqa: E402

SIDE = 96
DISCS = [(24, 30, 12), (66, 28, 15), (40, 70, 14), (80, 76, 9)]  # x, y, radius.


def discs(seed):
    """A picture of bright discs, and their labels."""
    random = np.random.default_rng(seed)
    labels = Image.new("L", (SIDE, SIDE))
    for k, (x, y, r) in enumerate(DISCS):
        x, y = x + random.integers(-4, 5), y + random.integers(-4, 5)
        ImageDraw.Draw(labels).ellipse([x - r, y - r, x + r, y + r], fill=k + 1)
    labels = np.asarray(labels)
    picture = 30 + 110 * (labels > 0) + random.normal(0, 8, labels.shape)
    return picture.clip(0, 255).astype(np.uint8), labels


def write_folders(name, count=6):
    """Folders of pictures and of labels."""
    for part in ("pictures", "labels"):
        os.makedirs(f"{name}/{part}")
    for k in range(count):
        picture, labels = discs(k)
        Image.fromarray(picture).save(f"{name}/pictures/{k}.png")
        Image.fromarray(labels).save(f"{name}/labels/{k}.png")


class Case(unittest.TestCase):
    def printed(self, script, *arguments, refused=False):
        """What a script of app/learn prints, which ends well, or is refused."""
        done = subprocess.run([sys.executable, f"{SOURCE}/app/learn/{script}", *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode != 0, refused, done.stdout)
        return done.stdout

    def assert_refused(self, words, *arguments):
        """Words of what refuses the arguments: of a script, or to a function."""
        if isinstance(arguments[0], str):
            out = self.printed(*arguments, refused=True)
            self.assertNotIn("Traceback", out)
        else:
            with self.assertRaises(SystemExit) as refused:
                arguments[0](*arguments[1:])
            out = str(refused.exception)
        for word in words:
            self.assertIn(word, out, arguments)


class Readers(Case):
    def test_labels_are_numbered_anew_and_keep_0(self):
        np.save("far.npy", np.array([[0, 900000], [7, 7]], np.int64))
        self.assertEqual(pictures.read_labels("far.npy").tolist(), [[0, 2], [1, 1]])
        np.save("no_zero.npy", np.array([[5, 9]], np.uint16))
        self.assertEqual(pictures.read_labels("no_zero.npy").tolist(), [[1, 2]])

    def test_labels_that_are_none(self):
        np.save("half.npy", np.array([[0.5, 1]]))
        self.assert_refused(["half.npy", "whole numbers"], pictures.read_labels, "half.npy")
        np.save("negative.npy", np.array([[-1, 1]]))
        self.assert_refused(["negative.npy", "-1"], pictures.read_labels, "negative.npy")
        Image.new("RGB", (4, 4)).save("colour.png")
        self.assert_refused(["colour.png", "several channels"], pictures.read_labels, "colour.png")
        with open("cut.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n1234")
        self.assert_refused(["cut.png", "cannot be read"], pictures.read_labels, "cut.png")

    def test_pictures_of_16_bits_are_stretched(self):
        values = np.linspace(100, 4095, 10000).reshape(100, 100).astype(np.uint16)
        Image.fromarray(values).save("deep.png")
        picture = pictures.read_picture("deep.png")
        self.assertEqual(picture.shape, (100, 100, 3))
        self.assertEqual((picture.min(), picture.max()), (0, 255))
        self.assertTrue((picture[..., 0] == picture[..., 2]).all())

    def test_outlines_enclose_objects(self):
        drawing = Image.new("L", (60, 40), 255)
        for x in (15, 40):
            ImageDraw.Draw(drawing).ellipse([x - 10, 8, x + 10, 28], outline=0)
        drawing.save("lines.png")
        objects = pictures.read_outlines("lines.png", "objects")
        self.assertEqual(sorted(np.unique(objects).tolist())[0], 0)
        self.assertEqual(len(np.unique(objects)), 3)
        self.assertEqual(objects[0, 0], 0)
        self.assertNotEqual(objects[18, 15], objects[18, 40])
        self.assertNotEqual(objects[18, 6], 0)  # The line belongs to what it encloses.
        areas = pictures.read_outlines("lines.png", "contours")
        self.assertEqual(len(np.unique(areas)), 3)
        self.assertGreater(areas.min(), 0)
        Image.new("L", (9, 9), 255).save("empty.png")
        self.assert_refused(["empty.png", "no lines"], pictures.read_outlines, "empty.png", "objects")

    def test_coco_polygons_and_rle(self):
        mask = np.zeros((8, 10), bool)
        mask[2:5, 3:7] = True
        flat = mask.T.ravel()
        changes = np.flatnonzero(np.diff(np.concatenate([[False], flat, [False]]).astype(int)))
        runs = np.diff(np.concatenate([[0], changes, [flat.size]])).tolist()
        data = {"images": [{"id": 4, "file_name": "sub/a.png", "width": 10, "height": 8}],
                "annotations": [
                    {"image_id": 4, "segmentation": {"size": [8, 10], "counts": runs}},
                    {"image_id": 4, "segmentation": [[0, 5, 2, 5, 2, 7, 0, 7]]}]}
        with open("coco.json", "w", encoding="utf-8") as file:
            json.dump(data, file)
        labels = pictures.read_coco("coco.json")["a.png"]
        self.assertTrue(((labels == 1) == mask).all())
        self.assertEqual(labels[6, 1], 2)
        # As pycocotools packs these runs.
        self.assertEqual(pictures.counts_of("j03500000f0"), runs)
        data["annotations"][0]["segmentation"]["counts"] = [3, 4]
        with open("coco.json", "w", encoding="utf-8") as file:
            json.dump(data, file)
        self.assert_refused(["coco.json", "another size"], pictures.read_coco, "coco.json")

    def test_folders_that_do_not_fit(self):
        write_folders("fit", 2)
        own = lambda **changed: pictures.load_own(  # noqa: E731
            **{"pictures": "fit/pictures", "labels": "fit/labels", "outlines": False, "task": "objects", **changed})
        names, photographs, regions = own()
        self.assertEqual(names, ["0", "1"])
        self.assertEqual(photographs[0].shape, (SIDE, SIDE, 3))
        self.assertEqual(regions[0].shape, (1, SIDE, SIDE))
        self.assertEqual(regions[0].min(), 1)  # What is no object.
        self.assert_refused(["none", "no such folder"], lambda: own(pictures="none"))
        self.assert_refused(["none", "no such folder"], lambda: own(labels="none"))
        os.makedirs("bare")
        self.assert_refused(["bare", "no picture"], lambda: own(pictures="bare"))
        self.assert_refused(["2 of 2", "0.png"], lambda: own(labels="bare"))
        Image.fromarray(np.zeros((9, 9), np.uint8)).save("fit/labels/1.png")
        self.assert_refused(["1.png", "9x9", "96x96"], own)
        for k in range(2):
            Image.fromarray(np.zeros((SIDE, SIDE), np.uint8)).save(f"fit/labels/{k}.png")
        self.assert_refused(["no object"], own)
        self.assert_refused(["no boundary"], lambda: own(task="contours"))


class Networks(Case):
    def test_a_shipped_file_is_read_back_into_layers(self):
        for name, outputs in (("nuclei", 2), ("default", 1), ("fast", 1), ("quality", 1)):
            path = f"{SOURCE}/configs/{name}.safetensors"
            graph, tensors, metadata = read_file(path)
            net = BoundaryNet(**SIZES[metadata["size"]], outputs=outputs).eval()
            load(net, path, tensors)
            planes = torch.randn(1, 3, 80, 64, generator=torch.Generator().manual_seed(1))
            with torch.no_grad():
                own = torch.sigmoid(net(planes))
                theirs = run_graph(graph, tensors, planes)
            self.assertLess((own - theirs).abs().max().item(), 1e-4, name)
            # What would be written again are the same tensors, up to the rounding of a factor.
            for key, tensor in graph_of(net).tensors.items():
                np.testing.assert_allclose(tensor.astype(np.float32), tensors[key].numpy(), rtol=2e-3, atol=1e-5)

    def test_an_embedding_is_written_beside_the_network(self):
        torch.manual_seed(2)
        shipped = f"{SOURCE}/configs/default.safetensors"
        _, given, metadata = read_file(shipped)
        net = BoundaryNet(**SIZES["default"]).eval()
        load(net, shipped, given)
        embedding = Embedding(net).eval()
        save(net, "with.safetensors", {"size": "default"}, embedding)
        graph, tensors, _ = read_file("with.safetensors")
        planes = torch.randn(1, 3, 70, 64)
        with torch.no_grad():
            own = embedding(*net.for_embedding(planes))
            theirs = run_graph({**graph, "output": graph["embedding"]}, tensors, planes)
        self.assertEqual(own.shape, (1, 8, 18, 16))
        self.assertGreater(own.std().item(), 1e-3)
        self.assertLess((own - theirs).abs().max().item(), 1e-2 * own.abs().max().item())
        load(net, "with.safetensors", tensors)  # Leaves the embedding out.

    def test_an_average_lies_between_two_networks(self):
        path = f"{SOURCE}/configs/default.safetensors"
        _, given, _ = read_file(path)
        net = BoundaryNet(**SIZES["default"]).eval()
        load(net, path, given)
        net.branch[0].conv.weight.data += 1
        save(net, "moved.safetensors", {"size": "default"}, Embedding(net).eval())
        _, moved, _ = read_file("moved.safetensors")
        self.printed("average.py", path, "moved.safetensors", "--share", "0.25", "--out", "mean.safetensors")
        _, mean, metadata = read_file("mean.safetensors")
        self.assertIn("--share 0.25", metadata["average_command"])
        self.assertAlmostEqual((mean["branch.0.weight"] - given["branch.0.weight"]).mean().item(), 0.25, delta=1e-3)
        self.assertTrue((mean["embedding.weight"] == moved["embedding.weight"]).all())
        for other, share, words in ((f"{SOURCE}/configs/fast.safetensors", "0.5", ["no tensor", "fast.safetensors"]),
                                    (path, "2", ["--share 2"]), ("none.safetensors", "0.5", ["none.safetensors"])):
            self.assert_refused(words, "average.py", other, "moved.safetensors", "--share", share,
                                "--out", "no.safetensors")
        self.assertFalse(os.path.exists("no.safetensors"))

    def test_vectors_that_tell_regions_apart_cost_less(self):
        regions = torch.ones(2, 1, 320, 320, dtype=torch.int16)
        regions[..., 160:] = 2
        generator = torch.Generator().manual_seed(3)
        apart = torch.zeros(2, 8, 80, 80)
        apart[..., 40:] = 2
        flat, noise = torch.zeros_like(apart), torch.randn(2, 8, 80, 80)
        losses = [loss_of(v, torch.tensor(2.0), regions, generator).item() for v in (apart, flat, noise)]
        self.assertLess(losses[0], 0.2)
        self.assertGreater(min(losses[1:]), 0.4)

    def test_what_makes_no_embedding(self):
        given = ("--data", "none", "--device", "cpu", "--weights")
        default, nuclei = (f"{SOURCE}/configs/{name}.safetensors" for name in ("default", "nuclei"))
        for arguments, words in (
                ((*given, default, "--out", "a.onnx"), ["a.onnx", ".safetensors"]),
                ((*given, default, "--out", "a.safetensors", "--fold", "4/4"), ["--fold 4/4"]),
                ((*given, default, "--out", "a.safetensors", "--splits", "test"), ["--splits test"]),
                ((*given, "none.safetensors", "--out", "a.safetensors"), ["none.safetensors"]),
                ((*given, nuclei, "--out", "a.safetensors"), ["nuclei.safetensors", "for contours"]),
                ((*given, default, "--out", "a.safetensors"), ["none/images/train", "no such folder"])):
            self.assert_refused(words, "embedding.py", *arguments)
        self.assertFalse(os.path.exists("a.safetensors"))

    def test_another_network_is_refused(self):
        _, tensors, _ = read_file(f"{SOURCE}/configs/fast.safetensors")
        with self.assertRaises(ValueError):
            load(BoundaryNet(**SIZES["default"]), "fast", tensors)


class Degraded(Case):
    @classmethod
    def setUpClass(cls):
        write_folders("weather", 2)
        for k in range(2):  # Grey pictures in colour.
            Image.open(f"weather/pictures/{k}.png").convert("RGB").save(f"weather/pictures/{k}.png")

    def test_wrong_input_is_refused(self):
        os.makedirs("weather/empty", exist_ok=True)
        for words, folder, *more in (
                (["holds no pictures"], "empty"), (["cannot be read"], "nowhere"),
                *((["from 1 to 5", s], "pictures", "--strengths", s) for s in ("0", "6", "strong")),
                (["rain", "gaussian-noise"], "pictures", "--kinds", "rain"),
                (["only with --truth"], "pictures", "--", "-v")):
            self.assert_refused(words, "degraded.py", f"weather/{folder}", "--out", "weather/no", *more)
        self.assertFalse(os.path.exists("weather/no"))

    def test_copies_depend_on_seed_kind_strength_and_name_alone(self):
        def copy(folder, kind, *more):
            self.printed("degraded.py", "weather/pictures", "--out", folder, "--kinds", kind, "--strengths", "2", *more)
            with Image.open(f"{folder}/shot-noise-2/1.png") as image:
                return np.asarray(image)

        first = copy("weather/a", "shot-noise")
        np.testing.assert_array_equal(first, copy("weather/b", "all"))
        self.assertTrue((first != copy("weather/c", "shot-noise", "--seed", "2")).any())
        self.assertEqual(len(os.listdir("weather/b")), 10)

    def test_stronger_is_worse(self):
        picture = torch.from_numpy(discs(0)[0] / 255).float().expand(1, 3, SIDE, SIDE)
        for kind in weather.KINDS:
            off = [(weather.degrade(picture, kind, s, weather.Random(3, "cpu")) - picture).abs().mean()
                   for s in (1, 5)]
            if kind != "grey":
                self.assertGreater(off[1], 1.2 * off[0], kind)

    def test_scores_of_the_programs_are_printed_for_each_kind(self):
        text = self.printed("degraded.py", "weather/pictures", "--truth", "weather/labels", "--out", "weather/d",
                            "--kinds", "fog,grey", "--strengths", "3", "--json", "weather/scores.json",
                            "--", "--device", "cpu", "--config", "fast")
        with open("weather/scores.json", encoding="utf-8") as file:
            scores = json.load(file)
        self.assertEqual(list(scores), ["clear", "fog-3", "grey-3"])
        self.assertEqual(scores["grey-3"]["same"], 1)  # The pictures are grey.
        self.assertEqual(set(scores["fog-3"]["each"]), {"0", "1"})
        self.assertIn("mean of 2", text)


class Drawn(Case):
    @classmethod
    def setUpClass(cls):
        random = np.random.default_rng(2)
        rough = random.integers(0, 255, (SIDE, 2 * SIDE, 3)).astype(np.uint8)
        halves = np.repeat([[1] * SIDE + [2] * SIDE], SIDE, 0).astype(np.int16)
        cls.photographs = Pictures(["rough"], [rough], [halves[None]])

    def test_textures_are_squares_within_regions(self):
        found = drawn.patches_of(self.photographs)
        self.assertEqual(len(found), 2)
        for patch in found:
            self.assertGreaterEqual(patch.shape[0], SIDE - 10)
            np.testing.assert_allclose(patch.mean((0, 1)), 0, atol=1e-3)

    def test_every_kind_has_regions_and_depends_on_the_seed_alone(self):
        source = self.photographs.photographs, drawn.patches_of(self.photographs)
        for kind, draw in drawn.KINDS.items():
            done = []
            for _ in range(2):
                board = drawn.Board(np.random.default_rng(7), source)
                draw(board)
                done.append(board.done())
            (pixels, regions), again = done
            np.testing.assert_array_equal(pixels, again[0], kind)
            np.testing.assert_array_equal(regions, again[1], kind)
            self.assertEqual(pixels.shape, (*regions.shape, 3), kind)
            count = np.bincount(regions.ravel())[1:]
            self.assertGreaterEqual((count > 0).sum(), 2, kind)
            self.assertGreaterEqual(count[count > 0].min(), drawn.LEAST, kind)
            self.assertGreater(count.sum(), 0.9 * regions.size, kind)
            if kind in ("soft", "fields", "shapes"):  # Without letters, colours change the most between regions.
                step = np.abs(np.diff(pixels.astype(int), axis=1)).max(2)
                side = np.diff(regions, axis=1) != 0
                self.assertGreater(step[side].mean(), 1.2 * step[~side].mean(), kind)

    def test_crops_have_the_share_of_drawn_pictures(self):
        pixels = [np.full((8, 8, 3), k, np.uint8) for k in range(10)]
        regions = [np.ones((1, 8, 8), np.int16)] * 10
        crops = Crops(pixels, regions, "cpu", 1, drawn=2, share=0.3)
        pick = crops.pick(40000, 4)
        self.assertAlmostEqual((pick >= 8).float().mean().item(), 0.3, delta=0.02)
        photographs, group = pick < 8, torch.arange(40000) // 10000
        self.assertTrue((pick % 4 == group)[photographs].all())
        self.assertEqual(set(pick.tolist()), set(range(10)))

    def test_a_picture_and_its_truth_are_written(self):
        os.makedirs("bsds/images/train")
        os.makedirs("bsds/groundTruth/train")
        Image.fromarray(self.photographs.photographs[0]).save("bsds/images/train/1.jpg")
        cell = np.empty((1, 1), object)
        cell[0, 0] = {"Segmentation": self.photographs.regions[0][0]}
        savemat("bsds/groundTruth/train/1.mat", {"groundTruth": cell})
        self.printed("drawn.py", "--data", "bsds", "--out", "drawn", "--count", "2")
        subprocess.run(["segment", "drawn/pictures", "-o", "drawn/labels", "--device", "cpu", "-q"], check=True)
        done = subprocess.run(["diacut-evaluate", "drawn/labels", "--truth", "drawn/truth", "--kind", "labels"],
                              check=True, capture_output=True, text=True)
        self.assertIn("2 images", done.stdout)


class Training(Case):
    def test_the_commands_of_the_page(self):
        def command(start, out, steps):
            return ("train.py", "--pictures", "cells/pictures", "--labels", "cells/labels", "--start", start,
                    "--out", out, "--state", "cells.pt", "--steps", steps, "--batch", "1")

        write_folders("cells")
        out = self.printed(*command("nuclei", "cells.safetensors", "3"))
        self.assertIn("5 pictures to learn from, 1 held out", out)
        self.assertEqual(out.count("average precision"), 2, out)
        _, _, metadata = read_file("cells.safetensors")
        self.assertIn("5 pictures of the folder pictures", metadata["trained_on"])
        self.assertIn("2018 Data Science Bowl", metadata["trained_on"])
        subprocess.run(["segment", "cells/pictures", "--config", "nuclei", "--weights", "cells.safetensors",
                        "-o", "found", "-q"], check=True)
        self.assertEqual(len(os.listdir("found")), 6)
        found = np.asarray(Image.open("found/0.png"))
        self.assertEqual(len(np.unique(found)), 1 + len(DISCS))  # Three steps unlearn nothing.
        # Goes on from the state, but not from that of another network.
        self.assertIn("going on at step 3", self.printed(*command("nuclei", "cells.safetensors", "4")))
        self.assert_refused(["state of another network"], *command("default", "other.safetensors", "4"))
        self.assertFalse(os.path.exists("other.safetensors"))

    def test_contours_of_ones_own(self):
        write_folders("areas", 5)
        out = self.printed("train.py", "--pictures", "areas/pictures", "--labels", "areas/labels", "--start", "fast",
                           "--out", "areas.safetensors", "--steps", "2", "--batch", "1")
        self.assertEqual(out.count("covering"), 2, out)

    def test_what_makes_no_sense(self):
        write_folders("few", 1)
        own = ("--pictures", "few/pictures", "--labels", "few/labels", "--out", "few.safetensors")
        with open("bad.safetensors", "wb") as file:
            file.write(b"\x08\0\0\0\0\0\0\0{\"a\": 1}")
        for arguments, words in (
                (("--out", "a.safetensors"), ["--pictures", "--data"]),
                ((*own, "--data", "few"), ["--pictures", "--data"]),
                ((*own, "--start", "nothing"), ["nothing", "no such network"]),
                ((*own, "--start", "bad.safetensors"), ["bad.safetensors", "no file of a network"]),
                ((*own, "--start", "nuclei", "--task", "contours"), ["objects", "contours"]),
                ((*own, "--start", "nuclei", "--encoder", "few"), ["--start", "--encoder"]),
                ((*own, "--splits", "train,val"), ["--splits"]),
                ((*own, "--drawn", "0.3"), ["--drawn", "--data"]),
                (("--data", "few", "--out", "few.safetensors", "--drawn", "1"), ["--drawn 1", "less than 1"]),
                ((*own[:4], "--out", "few.onnx"), ["few.onnx", ".safetensors"]),
                ((*own, "--device", "cuda", "--start", "nuclei"), ["GPU"])):
            if "cuda" in arguments and torch.cuda.is_available():
                continue
            self.assert_refused(words, "train.py", *arguments)
        self.assertFalse(os.path.exists("few.safetensors"))


if __name__ == "__main__":
    unittest.main()
