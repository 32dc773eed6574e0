"""Computes a network's map from its file alone, operation by operation, as diacut does.

The file says what the network is: this module shares no layers with network.py, so that each can check the
other.
"""
import json
import struct

import numpy as np
import torch
import torch.nn.functional as F

VERSIONS = ("1", "2")  # Of the file's operations.


def read_file(path):
    """The graph of the file, its tensors by name in float32, and its metadata. Raises ValueError."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        metadata = header.pop("__metadata__")
        tensors = {}
        for name, entry in header.items():
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            kind = {"F16": "<f2", "F32": "<f4"}[entry["dtype"]]
            values = np.frombuffer(data[begin:end], kind).reshape(entry["shape"])
            tensors[name] = torch.from_numpy(values.astype(np.float32))
        graph = json.loads(metadata["graph"])
    except (KeyError, TypeError, ValueError, AttributeError, struct.error) as error:
        raise ValueError(f"{path} is no file of a network: {type(error).__name__}: {error}") from error
    if metadata.get("format") != "diacut-network" or metadata.get("version") not in VERSIONS:
        raise ValueError(f"{path} holds {metadata.get('format')} of version {metadata.get('version')}: expected "
                         f"diacut-network of version {' or '.join(VERSIONS)}")
    return graph, tensors, metadata


def conv(op, values, tensors):
    x = values[op["in"][0]]
    weight, bias = tensors[op["weight"]], tensors[op["bias"]]
    stride, dilation = op.get("stride", 1), op["dilation"]
    before = op.get("before", op["kernel"] // 2) * dilation
    pads = []
    for side in (x.shape[-1], x.shape[-2]):
        last = stride * (-(-side // stride) - 1) - before + dilation * (op["kernel"] - 1)
        pads += [before, max(0, last - (side - 1))]
    groups = x.shape[1] if op.get("depthwise") else 1
    y = F.conv2d(F.pad(x, pads), weight, bias, stride, dilation=dilation, groups=groups)
    if "add" in op:
        y = y + values[op["add"]]
    if op["relu"]:
        y = y.clamp(0, op.get("most"))
    return y


def run_graph(graph, tensors, planes):
    """The output for planes 1 x 3 x H x W."""
    values = {graph["input"]: planes}
    for op in graph["ops"]:
        if op["op"] == "conv":
            values[op["out"]] = conv(op, values, tensors)
        elif op["op"] == "upsample":
            like = values[op["like"]]
            y = F.interpolate(values[op["in"]], scale_factor=2, mode="bilinear", align_corners=False)
            values[op["out"]] = y[..., : like.shape[-2], : like.shape[-1]]
        elif op["op"] == "sigmoid":
            values[op["out"]] = torch.sigmoid(values[op["in"]])
        else:
            raise ValueError(f"unknown operation {op['op']}")
    return values[graph["output"]]
