#!/usr/bin/env python3
"""Averages the weights of a network and of the one that was trained further from it (Wortsman et al. 2022), so
that what it learned anew costs less of what it knew. The embedding is the latter's.

    average.py BEFORE.safetensors AFTER.safetensors --share 0.7 --out WEIGHTS.safetensors

--share is the share of AFTER. Needs NumPy and PyTorch.
"""
import argparse
import json
import os
import struct
import sys

import numpy as np

from run_file import read_file

KINDS = {"F16": np.float16, "F32": np.float32}


def parts(path):
    """The header and the data of a file that read_file() takes."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def averaged(before, after, share):
    """The tensors of `after`, as the list of their bytes in the order of the file."""
    (_, old, _), (_, new, _), (header, data) = read_file(before), read_file(after), parts(after)
    found = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        if name.startswith("embedding"):
            found.append(data[begin:end])
        elif name not in old or old[name].shape != new[name].shape:
            raise ValueError(f"{before} has no tensor {name} as {after} has: the networks differ")
        else:
            mean = share * new[name].double() + (1 - share) * old[name].double()
            found.append(mean.numpy().astype(KINDS[entry["dtype"]]).tobytes())
    return header, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", help="the network, .safetensors")
    parser.add_argument("after", help="the one that training started from it made, .safetensors")
    parser.add_argument("--share", type=float, default=0.7, help="the share of the latter; default 0.7")
    parser.add_argument("--out", required=True, help="the file to write, .safetensors")
    options = parser.parse_args()
    if not 0 <= options.share <= 1:
        parser.error(f"--share {options.share:g}: expected a number from 0 to 1")
    try:
        header, tensors = averaged(options.before, options.after, options.share)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    header["__metadata__"]["average_command"] = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(options.out, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(tensors))


if __name__ == "__main__":
    main()
