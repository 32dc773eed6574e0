#!/usr/bin/env python3
"""Trains the boundary network on BSDS500's train photographs, from scratch, and writes its file.

    train.py --data BSDS500 --out WEIGHTS.safetensors [--size default|fast] [--steps N | --minutes M]
             [--seed 1] [--dropout P] [--decay D] [--state STATE.pt] [--maps FOLDER]
             [--fold K/N] [--teachers STATE.pt ... --share A]

BSDS500 holds images/{train,val}/*.jpg and groundTruth/{train,val}/*.mat. One GPU; needs PyTorch, NumPy,
SciPy and Pillow. The learning rate depends on the share of the steps, or of the time, that has passed;
the file records the number of steps, so that the training can be repeated. The file of --state is written
every minute and at the end; if it exists at the start, training continues from it. With --maps, the
boundary maps of the val photographs are written as 8-bit PNG at the end; with --fold too, so are the
boundary maps of the photographs that were left out.

Distillation (Hinton, Vinyals and Dean 2015) from networks that have not seen the photographs that they
teach. --fold K/N leaves out every N-th train photograph from the K-th on. The N networks that are trained
so are given to another run as --teachers: each gives the targets for crops of the photographs that it was
trained without, and the loss against these targets has the share A of the whole loss. A teacher cannot
know boundaries that only one annotator drew, so the new network does not memorize them.

The target. Each crop warps the regions of every annotator by nearest neighbour, so that boundaries stay
one pixel wide under any rotation and scale. The target of a pixel on the boundary of any annotator is the
share of annotators with a boundary within 2 pixels of it; the target of any other pixel is 0. The loss is
the cross-entropy of the full map and of the coarser maps of the decoder, with each class weighted by the
share of the other class in the image (Xie and Tu 2015). The weights written are an exponential average
over the steps.
"""
import argparse
import math
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from scipy.io import loadmat

from network import MEAN, SCALE, SIZES, BoundaryNet, save

CROP = 320
BORDER = 24  # Pixels mirrored at the edges of a whole photograph, as diacut does.
SIDE = 481  # Photographs are 481 x 321 or 321 x 481.
REACH = 2  # Boundaries of annotators agree within this many pixels.


def load_photographs(folder):
    names = sorted(n[:-4] for n in os.listdir(folder) if n.endswith(".jpg"))
    return names, [np.asarray(Image.open(f"{folder}/{n}.jpg").convert("RGB")) for n in names]


def load_regions(folder, names):
    """For each photograph, the regions that its annotators drew: annotators x height x width."""
    regions = []
    for name in names:
        cells = loadmat(f"{folder}/{name}.mat")["groundTruth"].ravel()
        regions.append(np.stack([c["Segmentation"][0, 0].astype(np.int32) for c in cells]))
    return regions


class Crops:
    """Random crops of photographs and of the regions that annotators drew, made on the GPU."""

    def __init__(self, photographs, regions, device, seed):
        n = len(photographs)
        self.annotators = max(r.shape[0] for r in regions)
        self.photographs = torch.zeros(n, 3, SIDE, SIDE, dtype=torch.uint8)
        # Region 0 means no region: outside of the photograph, or no such annotator.
        self.regions = torch.zeros(n, SIDE, SIDE, self.annotators, dtype=torch.int16)
        self.size = torch.zeros(n, 2)
        for i, (photograph, region) in enumerate(zip(photographs, regions)):
            h, w = photograph.shape[:2]
            self.photographs[i, :, :h, :w] = torch.from_numpy(photograph.copy()).permute(2, 0, 1)
            self.regions[i, :h, :w, : region.shape[0]] = torch.from_numpy(
                region.astype(np.int16).transpose(1, 2, 0) + 1)
            self.size[i] = torch.tensor([w, h], dtype=torch.float32)
        self.photographs = self.photographs.to(device)
        self.regions = self.regions.to(device)
        self.size = self.size.to(device)
        self.device = device
        self.random = torch.Generator(device=device)
        self.random.manual_seed(seed)

    def uniform(self, n, low, high):
        return low + (high - low) * torch.rand(n, generator=self.random, device=self.device)

    def batch(self, n, folds=1):
        """n crops in `folds` equal groups; group k is of photographs k, k + folds, k + 2 folds, ..."""
        draw = torch.rand(n, generator=self.random, device=self.device)
        fold = torch.arange(n, device=self.device) * folds // n
        members = (len(self.size) - fold + folds - 1) // folds  # Photographs of each group.
        pick = (draw * members).long() * folds + fold
        angle = self.uniform(n, 0, 2 * math.pi)
        # Half of the crops are upright, as photographs are.
        angle = torch.where(self.uniform(n, 0, 1) < 0.5, torch.zeros_like(angle), angle)
        scale = torch.exp(self.uniform(n, math.log(0.6), math.log(1.7)))
        stretch = torch.exp(self.uniform(n, -0.12, 0.12))
        flip = torch.where(self.uniform(n, 0, 1) < 0.5, -1.0, 1.0)
        # The map from a pixel of the crop, relative to its centre, to a pixel of the photograph.
        a = torch.cos(angle) / (scale * stretch) * flip
        b = -torch.sin(angle) / scale
        c = torch.sin(angle) / (scale * stretch) * flip
        d = torch.cos(angle) / scale
        centre = torch.stack([self.uniform(n, 0, 1), self.uniform(n, 0, 1)], 1)
        # Most of a crop lies inside of the photograph.
        reach = torch.minimum(CROP / 2 / scale[:, None] * 0.8, self.size[pick] / 2)
        centre = reach + centre * (self.size[pick] - 2 * reach)
        line = torch.arange(CROP, device=self.device) - (CROP - 1) / 2
        y, x = torch.meshgrid(line, line, indexing="ij")
        at_x = centre[:, 0, None, None] + a[:, None, None] * x + b[:, None, None] * y
        at_y = centre[:, 1, None, None] + c[:, None, None] * x + d[:, None, None] * y
        grid = torch.stack([(2 * at_x + 1) / SIDE - 1, (2 * at_y + 1) / SIDE - 1], -1)
        image = F.grid_sample(
            self.photographs[pick].float() / 255, grid, padding_mode="zeros", align_corners=False
        )
        # The nearest pixel; a pixel outside of the photograph has no region.
        column, row = at_x.round().long(), at_y.round().long()
        outside = (column < 0) | (column >= SIDE) | (row < 0) | (row >= SIDE)
        regions = self.regions[pick[:, None, None], row.clamp(0, SIDE - 1), column.clamp(0, SIDE - 1)]
        regions = regions.masked_fill(outside[..., None], 0).permute(0, 3, 1, 2).contiguous()
        return self.colour(image), *self.target(regions)

    def colour(self, image):
        n = image.shape[0]
        gain = 1 + 0.15 * torch.randn(n, 3, 1, 1, generator=self.random, device=self.device)
        contrast = torch.exp(self.uniform(n, -0.35, 0.35))[:, None, None, None]
        bright = self.uniform(n, -0.15, 0.15)[:, None, None, None]
        gamma = torch.exp(self.uniform(n, -0.3, 0.3))[:, None, None, None]
        image = image.clamp(0, 1) ** gamma
        grey = image.mean(1, keepdim=True)
        saturation = self.uniform(n, 0.4, 1.4)[:, None, None, None]
        saturation = torch.where(self.uniform(n, 0, 1)[:, None, None, None] < 0.1, 0.0, saturation)
        image = grey + saturation * (image - grey)
        image = (image - 0.5) * gain * contrast + 0.5 + bright
        noise = self.uniform(n, 0, 0.02)[:, None, None, None]
        image = image + noise * torch.randn(image.shape, generator=self.random, device=self.device)
        return (image.clamp(0, 1) - MEAN) * SCALE

    @staticmethod
    def target(regions):
        """The target of each pixel in [0, 1], and a mask, 1 at pixels that take part in the loss."""
        here = regions > 0
        edge = torch.zeros_like(here)
        right = (regions[..., 1:] != regions[..., :-1]) & here[..., 1:] & here[..., :-1]
        below = (regions[..., 1:, :] != regions[..., :-1, :]) & here[..., 1:, :] & here[..., :-1, :]
        edge[..., :-1] = right
        edge[..., :-1, :] |= below
        near = F.max_pool2d(edge.half(), (1, 2 * REACH + 1), 1, (0, REACH))
        near = F.max_pool2d(near, (2 * REACH + 1, 1), 1, (REACH, 0))
        annotators = here.any(3).any(2).sum(1).clamp(min=1)[:, None, None, None]
        agreed = near.sum(1, keepdim=True, dtype=torch.float32) / annotators
        anybody = edge.any(1, keepdim=True).float()
        inside = here.any(1, keepdim=True).float()
        # The edge of the photograph, inside of a warped crop, is no boundary.
        inside = 1 - F.max_pool2d(1 - inside, 5, 1, 2)
        return anybody * agreed, inside


def loss_of(logits, target, weight):
    positive = (target > 0).float() * weight
    negative = weight - positive
    count = positive.sum((1, 2, 3), keepdim=True)
    share = count / weight.sum((1, 2, 3), keepdim=True).clamp(min=1)
    balance = positive * (1 - share) + negative * 1.1 * share
    # Divided by the weight at a share of 3% positives, so that empty crops do not outweigh the others.
    each = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return (balance * each).sum((1, 2, 3)).mean() / (0.06 * CROP * CROP)


def taught_loss_of(logits, taught):
    """The loss against the outputs of teachers, which give every pixel a target between 0 and 1."""
    share = taught.mean((1, 2, 3), keepdim=True)
    balance = taught * (1 - share) + (1 - taught) * 1.1 * share
    each = F.binary_cross_entropy_with_logits(logits, taught, reduction="none")
    return (balance * each).sum((1, 2, 3)).mean() / (0.06 * CROP * CROP)


def full_loss(net, image, target, weight, taught=None, share=0.0):
    logits, sides = net(image, sides=True)

    def loss(map_):
        value = (1 - share) * loss_of(map_, target, weight)
        return value if taught is None else value + share * taught_loss_of(map_, taught)

    total = loss(logits.float())
    for side in sides:
        up = F.interpolate(side.float(), size=target.shape[-2:], mode="bilinear", align_corners=False)
        total = total + 0.4 * loss(up)
    return total


class Step:
    """The loss of a batch and its gradients. On a GPU the work is recorded once and replayed, because its
    several hundred small kernels take longer to launch than to run."""

    def __init__(self, net, teachers, share, batch, device):
        self.net, self.teachers, self.device = net, teachers, device
        self.share = share if teachers else 0.0
        self.graph = None
        self.image = torch.zeros(batch, 3, CROP, CROP, device=device).contiguous(
            memory_format=torch.channels_last)
        self.target = torch.zeros(batch, 1, CROP, CROP, device=device)
        self.weight = torch.ones(batch, 1, CROP, CROP, device=device)

    def work(self):
        for parameter in self.net.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()
        with torch.autocast(self.device.type, dtype=torch.bfloat16, cache_enabled=False):
            taught = taught_by(self.teachers, self.image) if self.teachers else None
            loss = full_loss(self.net, self.image, self.target, self.weight, taught, self.share)
        loss.backward()
        return loss.detach()

    def __call__(self, image, target, weight):
        self.image.copy_(image)
        self.target.copy_(target)
        self.weight.copy_(weight)
        if self.device.type != "cuda":
            return self.work()
        if self.graph is None:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            kept = [v.clone() for v in self.net.state_dict().values()]
            with torch.cuda.stream(stream):  # Chooses the algorithms and allocates the gradients.
                for _ in range(3):
                    self.work()
            torch.cuda.current_stream().wait_stream(stream)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.loss = self.work()
            with torch.no_grad():
                for value, old in zip(self.net.state_dict().values(), kept):
                    value.copy_(old)
        self.graph.replay()
        return self.loss


def load_teacher(path, device):
    state = torch.load(path, map_location=device)
    net = BoundaryNet(**SIZES[state["size"]]).to(device).to(memory_format=torch.channels_last)
    net.load_state_dict(state["mean"])
    return net.eval(), state["fold"]


def load_teachers(paths, device):
    """The list of teachers, number k trained without fold k. Exits unless there is one for each fold."""
    teachers = {}
    for path in paths:
        net, (k, n) = load_teacher(path, device)
        if n != len(paths) or k in teachers:
            sys.exit(f"{path} was trained without fold {k} of {n}: expected {len(paths)} teachers, "
                     f"one for each of {len(paths)} folds")
        teachers[k] = net
    return [teachers[k] for k in range(len(paths))]


def taught_by(teachers, image):
    each = image.shape[0] // len(teachers)
    with torch.no_grad():
        return torch.cat([torch.sigmoid(net(image[k * each : (k + 1) * each]).float())
                          for k, net in enumerate(teachers)])


def strength(net, photograph, device, scales=(0.5, 1.0)):
    """The boundary map of one photograph, averaged over scales, as diacut computes it."""
    h, w = photograph.shape[:2]
    image = torch.from_numpy(photograph.copy()).to(device).permute(2, 0, 1)[None].float() / 255
    total = 0
    for scale in scales:
        x = image
        if scale != 1.0:
            size = (round(h * scale), round(w * scale))
            x = F.interpolate(image, size=size, mode="bilinear", align_corners=False, antialias=True)
        rows, columns = (torch.tensor(np.pad(np.arange(n), BORDER, mode="symmetric"), device=device)
                         for n in x.shape[-2:])
        x = x[:, :, rows][:, :, :, columns]
        map_ = torch.sigmoid(net((x - MEAN) * SCALE).float())[..., BORDER:-BORDER, BORDER:-BORDER]
        if scale != 1.0:
            map_ = F.interpolate(map_, size=(h, w), mode="bilinear", align_corners=False)
        total = total + map_
    return (total / len(scales))[0, 0]


def write_maps(folder, names, maps):
    os.makedirs(folder, exist_ok=True)
    for name, map_ in zip(names, maps):
        Image.fromarray((map_.cpu().numpy() * 255).round().astype(np.uint8)).save(f"{folder}/{name}.png")


def rough_f(maps, regions, device):
    """A rough F of boundary maps, to watch the training: maps are thinned across the steepest direction
    and matched by distance alone, many pixels to one. diacut-evaluate computes the exact F."""
    disc = torch.tensor(
        [[x * x + y * y <= 18 for x in range(-4, 5)] for y in range(-4, 5)], device=device
    ).float()[None, None]
    thresholds = torch.linspace(0.05, 0.95, 37, device=device)
    counts = torch.zeros(len(thresholds), 4, dtype=torch.float64, device=device)
    for map_, region in zip(maps, regions):
        m = map_[None, None].float()
        smooth = F.avg_pool2d(F.pad(m, (1, 1, 1, 1), mode="replicate"), 3, 1)
        along_x = F.pad(smooth, (1, 1, 0, 0), mode="replicate")
        along_y = F.pad(smooth, (0, 0, 1, 1), mode="replicate")
        ridge_x = (smooth >= along_x[..., :-2]) & (smooth > along_x[..., 2:])
        ridge_y = (smooth >= along_y[..., :-2, :]) & (smooth > along_y[..., 2:, :])
        thin = m * (ridge_x | ridge_y)
        r = torch.from_numpy(region.astype(np.float32) + 1).to(device)[None]
        edge = torch.zeros_like(r)
        edge[..., :-1] = (r[..., 1:] != r[..., :-1]).float()
        edge[..., :-1, :] = torch.maximum(edge[..., :-1, :], (r[..., 1:, :] != r[..., :-1, :]).float())
        near_truth = F.conv2d(edge.amax(1, keepdim=True), disc, padding=4) > 0
        for t, threshold in enumerate(thresholds):
            found = (thin >= threshold).float()
            near_found = F.conv2d(found, disc, padding=4) > 0
            counts[t, 0] += (found * near_truth).sum()
            counts[t, 1] += found.sum()
            counts[t, 2] += (edge * near_found).sum()
            counts[t, 3] += edge.sum()
    precision = counts[:, 0] / counts[:, 1].clamp(min=1)
    recall = counts[:, 2] / counts[:, 3].clamp(min=1)
    f = 2 * precision * recall / (precision + recall).clamp(min=1e-9)
    best = int(f.argmax())
    return f[best].item(), thresholds[best].item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--size", choices=SIZES, default="default")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--minutes", type=float, default=16)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--decay", type=float, default=0.02)
    parser.add_argument("--fold", help="K/N, K from 0")
    parser.add_argument("--teachers", nargs="+", default=[])
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--state")
    parser.add_argument("--maps")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    torch.manual_seed(arguments.seed)
    torch.backends.cudnn.benchmark = True

    teachers = load_teachers(arguments.teachers, device)
    if teachers and arguments.batch % len(teachers):
        sys.exit(f"--batch {arguments.batch} is no multiple of the {len(teachers)} teachers")
    fold = tuple(int(v) for v in arguments.fold.split("/")) if arguments.fold else None
    names, photographs = load_photographs(f"{arguments.data}/images/train")
    regions = load_regions(f"{arguments.data}/groundTruth/train", names)
    left_out = list(range(fold[0], len(names), fold[1])) if fold else []
    kept = [i for i in range(len(names)) if i not in left_out]
    crops = Crops([photographs[i] for i in kept], [regions[i] for i in kept], device, arguments.seed)
    val_names, val_photographs = load_photographs(f"{arguments.data}/images/val")
    val_regions = load_regions(f"{arguments.data}/groundTruth/val", val_names)

    net = BoundaryNet(**SIZES[arguments.size], dropout=arguments.dropout)
    net = net.to(device).to(memory_format=torch.channels_last)
    mean = BoundaryNet(**SIZES[arguments.size]).to(device).to(memory_format=torch.channels_last)
    mean.load_state_dict(net.state_dict())
    decay, plain = [], []
    for parameter in net.parameters():
        (decay if parameter.ndim > 1 else plain).append(parameter)
    optimiser = torch.optim.AdamW(
        [{"params": decay, "weight_decay": arguments.decay}, {"params": plain, "weight_decay": 0.0}],
        lr=arguments.rate, fused=device.type == "cuda",
    )
    spent, step = 0.0, 0
    if arguments.state and os.path.exists(arguments.state):
        state = torch.load(arguments.state, map_location=device)
        net.load_state_dict(state["net"])
        mean.load_state_dict(state["mean"])
        optimiser.load_state_dict(state["optimiser"])
        crops.random.set_state(state["random"].cpu())
        spent, step = state["spent"], state["step"]
        print(f"going on at step {step}", flush=True)

    def keep_state():
        if not arguments.state:
            return
        torch.save({"net": net.state_dict(), "mean": mean.state_dict(), "size": arguments.size,
                    "fold": fold, "optimiser": optimiser.state_dict(),
                    "random": crops.random.get_state(), "spent": spent, "step": step},
                   arguments.state + ".part")
        os.replace(arguments.state + ".part", arguments.state)

    ours, averaged = ([v for v in n.state_dict().values() if v.dtype.is_floating_point]
                      for n in (net, mean))
    work = Step(net, teachers, arguments.share, arguments.batch, device)
    start, told, written = time.time() - spent, spent, spent
    while True:
        spent = time.time() - start
        share = step / arguments.steps if arguments.steps else spent / (60 * arguments.minutes)
        if share >= 1:
            break
        rate = arguments.rate * min(1.0, (step + 1) / 500) * 0.5 * (1 + math.cos(math.pi * share))
        for group in optimiser.param_groups:
            group["lr"] = max(rate, 1e-6)
        with torch.no_grad():
            batch = crops.batch(arguments.batch, max(1, len(teachers)))
        loss = work(*batch)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        step += 1
        keep = min(0.999, step / (step + 100))
        with torch.no_grad():
            torch._foreach_lerp_(averaged, ours, 1 - keep)
        if spent - told > 30 or step == 20:
            told = spent
            value = loss.item()
            if not math.isfinite(value):
                sys.exit(f"the loss is {value} at step {step}")
            print(f"{spent:6.0f} s  step {step}  loss {value:.4f}  "
                  f"{step * arguments.batch / max(spent, 1e-9):.0f} crops/s", flush=True)
        if spent - written > 60:
            written = spent
            keep_state()

    keep_state()
    mean.eval()
    with torch.no_grad():
        maps = [strength(mean, p, device) for p in val_photographs]
        f, threshold = rough_f(maps, val_regions, device)
        print(f"val: rough F {f:.4f} at {threshold:.3f} after {step} steps", flush=True)
    save(mean, arguments.out, {
        "size": arguments.size,
        "trained_on": "the 200 train photographs of BSDS500 (Arbelaez et al. 2011), whose terms are "
                      "non-commercial research and education",
        "command": f"train.py --size {arguments.size} --steps {step} "
                   f"--batch {arguments.batch} --rate {arguments.rate:g} --seed {arguments.seed} "
                   f"--dropout {arguments.dropout:g} --decay {arguments.decay:g}"
                   + (f" --teachers {' '.join(os.path.basename(p) for p in arguments.teachers)} --share {arguments.share:g}"
                      if teachers else "")
                   + (f" --fold {arguments.fold}" if fold else ""),
    })
    if arguments.maps:
        write_maps(f"{arguments.maps}/val", val_names, maps)
        with torch.no_grad():
            write_maps(f"{arguments.maps}/left_out", [names[i] for i in left_out],
                       [strength(mean, photographs[i], device) for i in left_out])


if __name__ == "__main__":
    main()
