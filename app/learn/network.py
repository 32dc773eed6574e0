"""The boundary network: its layers for training, and its file for diacut.

The encoder is the stem and the first eleven blocks of EfficientNet-Lite0, of `quality` the first fifteen of
EfficientNet-Lite1 (Tan and Le 2019): inverted residual blocks with depthwise convolutions, at resolutions 1/2
to 1/16. A branch of two 3 x 3 convolutions sees the full resolution. The decoder adds the output of the next
coarser level, upsampled bilinearly, to a 1 x 1 convolution of the encoder's output at its own level (a
feature pyramid: Lin et al. 2017), and has a 3 x 3 convolution and, but for full resolution, a residual one on
each level. Batch normalization follows the convolutions; the file holds it folded into them, so that at run
time there are only convolutions, sums and upsampling.
"""
import json
import struct

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# The channels of the branch at full resolution, and of the decoder by level, finest first; and the EfficientNet-Lite
# that the encoder is of: Lite1 has one block more than Lite0 in each stage but the first.
SIZES = {
    "default": dict(branch=24, decoder=(24, 32, 48, 64)),
    "fast": dict(branch=8, decoder=(8, 24, 32, 48)),
    "quality": dict(branch=24, decoder=(24, 32, 48, 64), lite=1),
}
# The stages of EfficientNet-Lite0: kernel, stride, expansion, channels, blocks, padding before the first block.
# The strided convolutions are padded alternately on both sides and on the far side only. Each of them
# moves the centre of an output pixel by half a pixel of its input; these moves then cancel for the most.
STAGES = (
    (3, 1, 1, 16, 1, 1),
    (3, 2, 6, 24, 2, 0),
    (5, 2, 6, 40, 2, 2),
    (3, 2, 6, 80, 3, 0),
    (5, 1, 6, 112, 3, 2),
)
STEM = 32
OUTPUTS = ("boundary", "inside")  # What the channels of a network's result are.
MEAN, SCALE = 0.5, 4.0  # The input is (value - MEAN) * SCALE of sRGB values in [0, 1].
EMBEDDING = 8  # Channels of an embedding.
ENCODER_SCALE = 0.5  # The pretrained encoder expects (value - 0.5) * 2.
# The weights of the encoder's first blocks are written in 32 bits, as are all biases: their values differ
# by so much that 16 bits change the map by up to 0.01. The others change it by 0.002.
EXACT_BLOCKS = 3


class Conv(nn.Module):
    """A convolution with batch normalization, an added tensor and ReLU: one operation of the file.
    before: the pixels of padding on the left and on top; most: the greatest value let through."""

    def __init__(self, inputs, outputs, kernel=3, stride=1, before=None, depthwise=False, norm=True,
                 relu=True, most=None):
        super().__init__()
        self.before = kernel // 2 if before is None else before
        even = self.before == kernel // 2
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, self.before if even else 0, bias=not norm,
                              groups=inputs if depthwise else 1)
        self.after = None if even else kernel - self.before - stride
        self.norm = nn.BatchNorm2d(outputs) if norm else None
        self.depthwise, self.relu, self.most = depthwise, relu, most
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x, add=None):
        if self.after is not None:  # An odd side needs one pixel more, for an output of half, rounded up.
            h, w = x.shape[-2:]
            x = F.pad(x, (self.before, self.after + w % 2, self.before, self.after + h % 2))
        x = self.conv(x)
        if self.norm is not None:
            x = self.norm(x)
        if add is not None:
            x = x + add
        if not self.relu:
            return x
        return F.relu(x) if self.most is None else x.clamp(0, self.most)

    def folded(self):
        weight = self.conv.weight.detach().double()
        if self.norm is None:
            return weight, self.conv.bias.detach().double()
        n = self.norm
        scale = n.weight.detach().double() / torch.sqrt(n.running_var.double() + n.eps)
        bias = n.bias.detach().double() - n.running_mean.double() * scale
        return weight * scale[:, None, None, None], bias


class Block(nn.Module):
    """An inverted residual block: a 1 x 1 convolution to more channels, a depthwise one, and a 1 x 1
    convolution to few channels, to which the input is added where it has the same shape."""

    def __init__(self, inputs, outputs, kernel, stride, expansion, before, drop):
        super().__init__()
        inner = inputs * expansion
        self.drop = drop
        self.residual = stride == 1 and inputs == outputs
        self.expand = Conv(inputs, inner, kernel=1, most=6) if expansion > 1 else None
        self.depthwise = Conv(inner, inner, kernel, stride, before, depthwise=True, most=6)
        self.project = Conv(inner, outputs, kernel=1, relu=False)

    def forward(self, x):
        y = x if self.expand is None else self.expand(x)
        y = self.project(self.depthwise(y))
        if not self.residual:
            return y
        if self.training and self.drop > 0:  # Stochastic depth (Huang et al. 2016).
            keep = torch.rand(y.shape[0], 1, 1, 1, device=y.device) >= self.drop
            y = y * (keep.to(y.dtype) / (1 - self.drop))
        return x + y


class Encoder(nn.Module):
    def __init__(self, drop, lite):
        """drop: the share of training in which the last block is skipped; less for the earlier ones.
        lite: 0 or 1, the EfficientNet-Lite."""
        super().__init__()
        self.stem = Conv(3, STEM, stride=2, most=6)
        self.blocks = nn.ModuleList()
        self.taken, self.channels = [], []  # The blocks whose outputs the decoder takes, finest first.
        inputs, counts = STEM, [stage[4] + (lite if k else 0) for k, stage in enumerate(STAGES)]
        for k, (kernel, stride, expansion, outputs, _, before) in enumerate(STAGES):
            for j in range(counts[k]):
                first = j == 0
                self.blocks.append(Block(inputs, outputs, kernel, stride if first else 1, expansion,
                                         before if first else kernel // 2, drop * len(self.blocks) / sum(counts)))
                inputs = outputs
            if k + 1 == len(STAGES) or STAGES[k + 1][1] == 2:
                self.taken.append(len(self.blocks) - 1)
                self.channels.append(outputs)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eps, module.momentum = 1e-3, 0.05

    def forward(self, x):
        x = self.stem(x * ENCODER_SCALE)
        outputs = []
        for k, block in enumerate(self.blocks):
            x = block(x)
            if k in self.taken:
                outputs.append(x)
        return outputs

    def load(self, path):
        """Takes the weights of a file of this EfficientNet-Lite trained on ImageNet. Raises ValueError."""
        given = torch.load(path, map_location="cpu")
        parts = [("_conv_stem.weight", self.stem.conv), ("_bn0", self.stem.norm)]
        for k, block in enumerate(self.blocks):
            for part, conv, norm in (("expand", "_expand_conv", "_bn0"), ("depthwise", "_depthwise_conv",
                                     "_bn1"), ("project", "_project_conv", "_bn2")):
                module = getattr(block, part)
                if module is not None:
                    parts += [(f"_blocks.{k}.{conv}.weight", module.conv),
                              (f"_blocks.{k}.{norm}", module.norm)]
        for name, module in parts:
            for key, own in module.state_dict().items():
                theirs = name if name.endswith(".weight") else f"{name}.{key}"
                if theirs not in given or given[theirs].shape != own.shape:
                    raise ValueError(f"{path}: no tensor {theirs} of shape {tuple(own.shape)}: expected "
                                     "the weights of EfficientNet-Lite0, for --size quality of Lite1")
                own.copy_(given[theirs])


class BoundaryNet(nn.Module):
    def __init__(self, branch, decoder, outputs=1, drop=0.0, lite=0):
        super().__init__()
        self.encoder = Encoder(drop, lite)
        self.branch = nn.ModuleList([Conv(3, branch), Conv(branch, branch)])
        channels = [branch, *self.encoder.channels]
        self.down = nn.ModuleList()  # 1 x 1 convolutions of the coarser level, before upsampling
        self.skip = nn.ModuleList()  # 1 x 1 convolutions of the encoder's output, plus the upsampled tensor
        self.mix = nn.ModuleList()
        self.residual = nn.ModuleList()  # None at full resolution, where most of the time is spent.
        self.side = nn.ModuleList()
        below = channels[-1]
        for level in range(len(channels) - 2, -1, -1):
            own = decoder[level]
            self.down.append(Conv(below, own, kernel=1, norm=False, relu=False))
            self.skip.append(Conv(channels[level], own, kernel=1))
            self.mix.append(Conv(own, own))
            if level > 0:
                self.residual.append(Conv(own, own))
                self.side.append(Conv(own, outputs, kernel=1, norm=False, relu=False))
            below = own
        self.last = Conv(below, below)
        self.out = Conv(below, outputs, norm=False, relu=False)

    def forward(self, x, sides=False):
        """x: N x 3 x H x W, normalized. Returns logits N x outputs x H x W; with `sides` also a list of
        logits of the coarser levels."""
        features = [self.branch[1](self.branch[0](x)), *self.encoder(x)]
        y, maps = features[-1], []
        for k, skip in enumerate(features[-2::-1]):
            y = self.decoded(k, y, skip)
            if sides and k < len(self.residual):
                maps.append(self.side[k](y))
        logits = self.out(self.last(y))
        return (logits, maps) if sides else logits

    def decoded(self, k, coarser, skip):
        """The k-th level of the decoder, coarsest first, from the level before and the encoder's output."""
        up = F.interpolate(self.down[k](coarser), scale_factor=2, mode="bilinear", align_corners=False)
        y = self.mix[k](self.skip[k](skip, add=up[..., : skip.shape[-2], : skip.shape[-1]]))
        return self.residual[k](y, add=y) if k < len(self.residual) else y

    def for_embedding(self, x):
        """What an Embedding reads: the encoder's last output, and the two coarsest levels of the decoder."""
        features = self.encoder(x)
        coarse = features[-1]
        middle = self.decoded(0, coarse, features[-2])
        return coarse, middle, self.decoded(1, middle, features[-3])


class Embedding(nn.Module):
    """A vector for each pixel of level 2, from for_embedding() of a BoundaryNet."""

    def __init__(self, net, channels=EMBEDDING, width=48):
        super().__init__()
        coarse = net.encoder.channels[-1]
        middle, fine = (net.mix[k].conv.out_channels for k in range(2))
        self.down = nn.ModuleList([Conv(coarse, width, kernel=1, norm=False, relu=False),
                                   Conv(width, width, kernel=1, norm=False, relu=False)])
        self.skip = nn.ModuleList([Conv(middle, width, kernel=1), Conv(fine, width, kernel=1)])
        self.mix = nn.ModuleList([Conv(width, width), Conv(width, width)])
        self.out = Conv(width, channels, kernel=1, norm=False, relu=False)
        self.drop = nn.Dropout2d(0.1)

    def forward(self, coarse, middle, fine):
        x = self.drop(coarse)
        for down, skip, mix, level in zip(self.down, self.skip, self.mix, (middle, fine)):
            up = F.interpolate(down(x), scale_factor=2, mode="bilinear", align_corners=False)
            x = mix(skip(level, add=up[..., : level.shape[-2], : level.shape[-1]]))
        return self.out(x)


class Graph:
    """The operations and the tensors of the file, and the layer and the factor that each is made of."""

    def __init__(self):
        self.ops, self.tensors, self.layers = [], {}, {}

    def conv(self, module, inputs, out, add=None, factor=1.0, exact=False):
        self.layers[out] = (module, factor)
        weight, bias = module.folded()
        weight = (weight * factor).cpu().numpy().astype(np.float32 if exact else np.float16)
        if not np.isfinite(weight).all():
            raise ValueError(f"{out}.weight does not fit into 16 bits")
        self.tensors[out + ".weight"] = weight
        self.tensors[out + ".bias"] = bias.cpu().numpy().astype(np.float32)
        conv = module.conv
        op = {"op": "conv", "in": [inputs], "out": out, "weight": out + ".weight", "bias": out + ".bias",
              "kernel": conv.kernel_size[0], "dilation": 1, "relu": module.relu}
        if conv.stride[0] != 1:
            op["stride"] = conv.stride[0]
        if module.before != conv.kernel_size[0] // 2:
            op["before"] = module.before
        if module.depthwise:
            op["depthwise"] = True
        if module.most is not None:
            op["most"] = module.most
        if add is not None:
            op["add"] = add
        self.ops.append(op)
        return out

    def upsample(self, inputs, like, out):
        self.ops.append({"op": "upsample", "in": inputs, "like": like, "out": out})
        return out


def add_embedding(g, embedding, read):
    """read: the names of the tensors of for_embedding()."""
    y = read[0]
    for k, level in enumerate(read[1:]):
        name = f"embedding.{k}"
        up = g.upsample(g.conv(embedding.down[k], y, name + ".down"), level, name + ".up")
        y = g.conv(embedding.mix[k], g.conv(embedding.skip[k], level, name + ".skip", add=up), name + ".mix")
    g.conv(embedding.out, y, "embedding")


def graph_of(net, embedding=None):
    """The Graph for the file, with batch normalization folded into its tensors."""
    g, features = Graph(), []
    x = g.conv(net.encoder.stem, "image", "encoder.stem", factor=ENCODER_SCALE, exact=True)
    for k, block in enumerate(net.encoder.blocks):
        name, y, exact = f"encoder.{k}", x, k < EXACT_BLOCKS
        if block.expand is not None:
            y = g.conv(block.expand, y, name + ".expand", exact=exact)
        y = g.conv(block.depthwise, y, name + ".depthwise", exact=exact)
        x = g.conv(block.project, y, name + ".project", add=x if block.residual else None, exact=exact)
        if k in net.encoder.taken:
            features.append(x)
    features.insert(0, g.conv(net.branch[1], g.conv(net.branch[0], "image", "branch.0"), "branch.1"))
    read = [x]
    for k, skip in enumerate(features[-2::-1]):
        name = f"decoder.{len(features) - 2 - k}"
        up = g.upsample(g.conv(net.down[k], x, name + ".down"), skip, name + ".up")
        x = g.conv(net.mix[k], g.conv(net.skip[k], skip, name + ".skip", add=up), name + ".mix")
        if k < len(net.residual):
            x = g.conv(net.residual[k], x, name + ".residual", add=x)
        read.append(x)
        if embedding is not None and len(read) == 3:  # At once, so that these tensors need not be kept.
            add_embedding(g, embedding, read)
    x = g.conv(net.out, g.conv(net.last, x, "last"), "logits")
    g.ops.append({"op": "sigmoid", "in": x, "out": "strength"})
    return g


def load(net, path, tensors):
    """Takes the tensors of a file that save() wrote, whose batch normalization is folded: that of the layers
    becomes the identity with the file's bias. An embedding is left out. Raises ValueError."""
    graph = graph_of(net)
    given = {name: tuple(t.shape) for name, t in tensors.items() if not name.startswith("embedding")}
    if {name: t.shape for name, t in graph.tensors.items()} != given:
        raise ValueError(f"{path}: its layers are not those of this program's networks")
    for name, (module, factor) in graph.layers.items():
        module.conv.weight.data.copy_(tensors[name + ".weight"] / factor)
        bias = tensors[name + ".bias"]
        if module.norm is None:
            module.conv.bias.data.copy_(bias)
            continue
        module.norm.weight.data.fill_(1)
        module.norm.bias.data.copy_(bias)
        module.norm.running_mean.zero_()
        module.norm.running_var.fill_(1 - module.norm.eps)


def freeze_norms(net):
    """Lets batch normalization keep its statistics in training, as few pictures have none to offer."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


def save(net, path, about, embedding=None):
    """Writes the file that diacut reads: safetensors, with the graph and `about` in its metadata."""
    made = graph_of(net, embedding)
    graph = {"input": "image", "output": "strength", "ops": made.ops}
    if embedding is not None:
        graph["embedding"] = "embedding"
    # Tensors of 32 bits come before tensors of 16 bits, so that each begins at a multiple of its size.
    tensors = dict(sorted(made.tensors.items(), key=lambda item: -item[1].itemsize))
    header = {
        "__metadata__": {
            "format": "diacut-network",
            "version": "2",
            "graph": json.dumps(graph, separators=(",", ":")),
            "outputs": ",".join(OUTPUTS[: net.out.conv.out_channels]),
            **about,
        }
    }
    at = 0
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": "F32" if tensor.dtype == np.float32 else "F16",
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
