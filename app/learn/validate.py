"""Scores of weights by the programs themselves: `segment` labels pictures, `diacut-evaluate` judges them."""
import json
import os
import shutil
import subprocess
import tempfile

import numpy as np
from PIL import Image

BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/release/app")


def find_program(name, folder):
    """Its path; None if it is nowhere."""
    for place in [folder] if folder else [None, f"{BUILT}/segment", f"{BUILT}/evaluate"]:
        path = shutil.which(name, path=place)
        if path:
            return path
    return None


def write_truth(folder, name, regions, task):
    for k, own in enumerate(regions):
        labels = own - 1 if task == "objects" else own
        path = f"{folder}/{name}.png" if len(regions) == 1 else f"{folder}/{name}_{k}.png"
        Image.fromarray(labels.astype(np.uint16)).save(path)


class Judge:
    """Pictures with what people drew in them, in files, for as long as this is open."""

    def __init__(self, pictures, task, programs):
        self.task, self.folder = task, None
        self.segment, self.evaluate = (find_program(n, programs) for n in ("segment", "diacut-evaluate"))
        self.missing = not pictures.names or not self.segment or not self.evaluate
        if self.missing:
            return
        self.folder = tempfile.TemporaryDirectory(prefix="diacut-learn-")
        for part in ("pictures", "truth"):
            os.mkdir(f"{self.folder.name}/{part}")
        for name, photograph, own in zip(*pictures):
            Image.fromarray(photograph).save(f"{self.folder.name}/pictures/{name}.png")
            write_truth(f"{self.folder.name}/truth", name, own, task)

    def score(self, weights):
        """A line of scores of the weights; why there is none, if there is none."""
        if self.missing:
            return "no score by diacut-evaluate: no pictures are held out, or no programs are there (--programs)"
        there = self.folder.name
        objects = self.task == "objects"
        shutil.rmtree(f"{there}/labels", ignore_errors=True)
        commands = [
            [self.segment, f"{there}/pictures", "-o", f"{there}/labels", "--weights", weights, "-q",
             *(["--config", "nuclei"] if objects else [])],
            [self.evaluate, f"{there}/labels", "--truth", f"{there}/truth", "--kind", "labels", "-q",
             "--json", "-", *(["--objects"] if objects else ["--no-boundaries"])]]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                return f"no score by diacut-evaluate: {os.path.basename(command[0])} ended with {done.stderr.strip()}"
        scores = json.loads(done.stdout)
        if objects:
            match = scores["objects"]["matches"][0]
            return (f"average precision {match['ap']:.3f}, F1 {match['f1']:.3f} at an overlap of "
                    f"{match['overlap']:g}")
        regions = scores["regions"]
        return (f"covering {regions['covering']['ods']:.3f}, variation of information "
                f"{regions['vi']['ods']:.3f} bits")
