"""The boundary network: its layers for training, and its file for diacut.

The encoder consists of residual 3 x 3 convolutions at five resolutions, each half of the one before by
max pooling. The decoder adds the output of the next coarser level, upsampled bilinearly, to a 1 x 1
convolution of the encoder's output at its own level (a feature pyramid: Lin et al. 2017). Batch
normalization follows each 3 x 3 convolution; the file holds it folded into the convolution, so that at
run time there are only convolutions, sums, pooling and upsampling.
"""
import json
import struct

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# The channels of the encoder and of the decoder and the number of residual blocks, by level.
SIZES = {
    "default": dict(encoder=(24, 48, 64, 80, 80), decoder=(24, 32, 40, 48), blocks=(1, 2, 2, 2, 2)),
    "fast": dict(encoder=(12, 24, 40, 56, 56), decoder=(12, 16, 24, 32), blocks=(1, 1, 1, 1, 1)),
    # Only a teacher of other networks: its file is too large to be shipped.
    "teacher": dict(encoder=(32, 64, 96, 128, 128), decoder=(32, 48, 64, 80), blocks=(1, 2, 2, 2, 2)),
}
MEAN, SCALE = 0.5, 4.0  # The input is (value - MEAN) * SCALE of sRGB values in [0, 1].


class Conv(nn.Module):
    """A convolution with batch normalization, an added tensor and ReLU: one operation of the file."""

    def __init__(self, inputs, outputs, kernel=3, dilation=1, norm=True, relu=True):
        super().__init__()
        self.conv = nn.Conv2d(
            inputs, outputs, kernel, padding=dilation * (kernel // 2), dilation=dilation, bias=not norm
        )
        self.norm = nn.BatchNorm2d(outputs) if norm else None
        self.relu = relu
        self.dilation = dilation
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x, add=None):
        x = self.conv(x)
        if self.norm is not None:
            x = self.norm(x)
        if add is not None:
            x = x + add
        return F.relu(x) if self.relu else x

    def folded(self):
        weight = self.conv.weight.detach().double()
        if self.norm is None:
            return weight, self.conv.bias.detach().double()
        n = self.norm
        scale = n.weight.detach().double() / torch.sqrt(n.running_var.double() + n.eps)
        bias = n.bias.detach().double() - n.running_mean.double() * scale
        return weight * scale[:, None, None, None], bias


class BoundaryNet(nn.Module):
    def __init__(self, encoder, decoder, blocks, dropout=0.0):
        """dropout: the share of the channels that are dropped during training after each block from
        the third level on."""
        super().__init__()
        self.levels = len(encoder)
        self.dropout = dropout
        self.stem = nn.ModuleList()
        self.blocks = nn.ModuleList()
        inputs = 3
        for level, channels in enumerate(encoder):
            self.stem.append(Conv(inputs, channels))
            stage = nn.ModuleList()
            for k in range(blocks[level]):
                # The later blocks of the coarsest level are dilated, for a larger receptive field.
                dilation = 2 if level == self.levels - 1 and k > 0 else 1
                stage.append(
                    nn.ModuleList(
                        [
                            Conv(channels, channels, dilation=dilation),
                            Conv(channels, channels, dilation=dilation),
                        ]
                    )
                )
            self.blocks.append(stage)
            inputs = channels
        self.down = nn.ModuleList()  # 1 x 1 convolutions of the coarser level, before upsampling
        self.skip = nn.ModuleList()  # 1 x 1 convolutions of the encoder's output, plus the upsampled tensor
        self.mix = nn.ModuleList()
        self.side = nn.ModuleList()
        below = encoder[-1]
        for level in range(self.levels - 2, -1, -1):
            channels = decoder[level]
            self.down.append(Conv(below, channels, kernel=1, norm=False, relu=False))
            self.skip.append(Conv(encoder[level], channels, kernel=1))
            self.mix.append(Conv(channels, channels))
            self.side.append(Conv(channels, 1, kernel=1, norm=False, relu=False))
            below = channels
        self.last = Conv(below, below)
        self.out = Conv(below, 1, norm=False, relu=False)

    def forward(self, x, sides=False):
        """x: N x 3 x H x W, normalized. Returns logits N x 1 x H x W; with `sides` also a list of logits
        of the coarser levels."""
        skips = []
        for level in range(self.levels):
            if level > 0:
                x = F.max_pool2d(x, 2, 2, ceil_mode=True)
            x = self.stem[level](x)
            for first, second in self.blocks[level]:
                x = second(first(x), add=x)
                if level >= 2:
                    x = F.dropout2d(x, self.dropout, self.training)
            skips.append(x)
        maps = []
        for k, level in enumerate(range(self.levels - 2, -1, -1)):
            skip = skips[level]
            up = F.interpolate(self.down[k](x), scale_factor=2, mode="bilinear", align_corners=False)
            up = up[..., : skip.shape[-2], : skip.shape[-1]]
            x = self.mix[k](self.skip[k](skip, add=up))
            if sides and level > 0:
                maps.append(self.side[k](x))
        logits = self.out(self.last(x))
        return (logits, maps) if sides else logits


def graph_and_tensors(net):
    """The graph for the file, and its tensors by name in float16, with batch normalization folded in."""
    ops, tensors = [], {}

    def conv(module, inputs, out, add=None):
        weight, bias = module.folded()
        tensors[out + ".weight"] = weight.cpu().numpy().astype(np.float16)
        tensors[out + ".bias"] = bias.cpu().numpy().astype(np.float16)
        op = {
            "op": "conv",
            "in": [inputs],
            "out": out,
            "weight": out + ".weight",
            "bias": out + ".bias",
            "kernel": module.conv.kernel_size[0],
            "dilation": module.dilation,
            "relu": module.relu,
        }
        if add is not None:
            op["add"] = add
        ops.append(op)
        return out

    x, skips = "image", []
    for level in range(net.levels):
        if level > 0:
            ops.append({"op": "maxpool", "in": x, "out": f"pool{level}"})
            x = f"pool{level}"
        x = conv(net.stem[level], x, f"encoder{level}.stem")
        for k, (first, second) in enumerate(net.blocks[level]):
            inner = conv(first, x, f"encoder{level}.{k}.first")
            x = conv(second, inner, f"encoder{level}.{k}.second", add=x)
        skips.append(x)
    for k, level in enumerate(range(net.levels - 2, -1, -1)):
        down = conv(net.down[k], x, f"decoder{level}.down")
        up = f"decoder{level}.up"
        ops.append({"op": "upsample", "in": down, "like": skips[level], "out": up})
        skip = conv(net.skip[k], skips[level], f"decoder{level}.skip", add=up)
        x = conv(net.mix[k], skip, f"decoder{level}.mix")
    x = conv(net.last, x, "last")
    x = conv(net.out, x, "logits")
    ops.append({"op": "sigmoid", "in": x, "out": "strength"})
    return {"input": "image", "output": "strength", "ops": ops}, tensors


def save(net, path, about):
    """Writes the file that diacut reads: safetensors, with the graph and `about` in its metadata."""
    graph, tensors = graph_and_tensors(net)
    header = {
        "__metadata__": {
            "format": "diacut-network",
            "version": "1",
            "graph": json.dumps(graph, separators=(",", ":")),
            **about,
        }
    }
    at = 0
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": "F16",
            "shape": list(tensor.shape),
            "data_offsets": [at, at + tensor.nbytes],
        }
        at += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for tensor in tensors.values():
            file.write(np.ascontiguousarray(tensor).tobytes())
