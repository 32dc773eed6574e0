#!/usr/bin/env python3
"""overhead.py SEGMENT PHOTO...: how long a segmentation takes from a NumPy array to its labels, beside the
stages of the program SEGMENT for the same photograph. All times are the least of several runs, in turns."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import diacut

RUNS = 3


def stages_of_program(program: str, photograph: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        # A file that is named twice is segmented once.
        for copy in range(RUNS + 1):
            shutil.copy(photograph, f"{folder}/{copy}{os.path.splitext(photograph)[1]}")
        report = subprocess.run(
            [program, folder, "-o", f"{folder}/labels", "--json", "-", "--quiet"],
            capture_output=True, text=True, check=True,
        )
    # Without the first picture, for which kernels are loaded.
    later = [json.loads(line) for line in report.stdout.strip().splitlines()][1:]
    return min(sum(stage["wall_ms"] for stage in each["stages"]) for each in later)


def main() -> None:
    program, *photographs = sys.argv[1:]
    segmenter = diacut.Segmenter()
    print(segmenter.device)
    print("| Picture | array to labels | stages in Python | stages of the program |")
    for photograph in photographs:
        array = np.rint(diacut.read_image(photograph).pixels * 255).astype(np.uint8)
        segmenter.segment(array)
        walls, stages, programs = [], [], []
        for _ in range(RUNS):
            start = time.perf_counter()
            result = segmenter.segment(array)
            walls.append(1000 * (time.perf_counter() - start))
            stages.append(sum(result.times.values()))
            programs.append(stages_of_program(program, photograph))
        size = f"{array.shape[1]}x{array.shape[0]}"
        print(f"| {size} | {min(walls):.1f} ms | {min(stages):.1f} ms | {min(programs):.1f} ms |")
        share = min(wall / sum_ for wall, sum_ in zip(walls, stages)) - 1
        print(f"  beyond the stages: {100 * share:.2f}%, beyond the program's: "
              f"{100 * (min(walls) / min(programs) - 1):.1f}%")


main()
