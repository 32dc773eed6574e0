#!/usr/bin/env python3
"""Trains the boundary network on BSDS500's train photographs, from scratch, and writes its file.

    train.py --data BSDS500 --out WEIGHTS.safetensors [--size default|fast] [--steps N | --minutes M]
             [--seed 1] [--state STATE.pt] [--maps FOLDER]

BSDS500 holds images/{train,val}/*.jpg and groundTruth/{train,val}/*.mat. One GPU; needs PyTorch, NumPy,
SciPy and Pillow. The learning rate follows the share of the steps, or of the time, that has passed; the
file tells the steps that were made, so that the same training can be run again. --state is written every minute and, if it is there, gone on from. With
--maps, the boundary maps of the val photographs are written as 8-bit PNG in the end.

The target. Each crop warps every annotator's regions (nearest neighbour), so that boundaries stay one
pixel wide under any rotation and scale. A pixel on anybody's boundary is positive by the share of
annotators who drew one within 2 pixels of it; all others are 0. The loss is cross-entropy with both
classes weighted by the other's share in the image (Xie and Tu 2015), of the full map and of the
decoder's coarser ones. The weights written are an exponential average.
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
SIDE = 481  # Photographs are 481 x 321 or 321 x 481.
REACH = 2  # Pixels within which annotators agree.


def load_photographs(folder):
    names = sorted(n[:-4] for n in os.listdir(folder) if n.endswith(".jpg"))
    return names, [np.asarray(Image.open(f"{folder}/{n}.jpg").convert("RGB")) for n in names]


def load_regions(folder, names):
    """By photograph: annotators x height x width."""
    regions = []
    for name in names:
        cells = loadmat(f"{folder}/{name}.mat")["groundTruth"].ravel()
        regions.append(np.stack([c["Segmentation"][0, 0].astype(np.int32) for c in cells]))
    return regions


class Crops:
    """Random crops of photographs and what their annotators drew, made on the GPU."""

    def __init__(self, photographs, regions, device, seed):
        n = len(photographs)
        self.annotators = max(r.shape[0] for r in regions)
        self.photographs = torch.zeros(n, 3, SIDE, SIDE, dtype=torch.uint8)
        # 0 where there is nothing: outside the photograph, or no such annotator.
        self.regions = torch.zeros(n, self.annotators, SIDE, SIDE, dtype=torch.int16)
        self.size = torch.zeros(n, 2)
        for i, (photograph, region) in enumerate(zip(photographs, regions)):
            h, w = photograph.shape[:2]
            self.photographs[i, :, :h, :w] = torch.from_numpy(photograph.copy()).permute(2, 0, 1)
            self.regions[i, : region.shape[0], :h, :w] = torch.from_numpy(region.astype(np.int16) + 1)
            self.size[i] = torch.tensor([w, h], dtype=torch.float32)
        self.photographs = self.photographs.to(device)
        self.regions = self.regions.to(device)
        self.size = self.size.to(device)
        self.device = device
        self.random = torch.Generator(device=device)
        self.random.manual_seed(seed)

    def uniform(self, n, low, high):
        return low + (high - low) * torch.rand(n, generator=self.random, device=self.device)

    def batch(self, n):
        pick = torch.randint(len(self.size), (n,), generator=self.random, device=self.device)
        angle = self.uniform(n, 0, 2 * math.pi)
        # Half of them upright: that is how photographs come.
        angle = torch.where(self.uniform(n, 0, 1) < 0.5, torch.zeros_like(angle), angle)
        scale = torch.exp(self.uniform(n, math.log(0.6), math.log(1.7)))
        stretch = torch.exp(self.uniform(n, -0.12, 0.12))
        flip = torch.where(self.uniform(n, 0, 1) < 0.5, -1.0, 1.0)
        # A pixel of the crop, from its centre, to a pixel of the photograph.
        a = torch.cos(angle) / (scale * stretch) * flip
        b = -torch.sin(angle) / scale
        c = torch.sin(angle) / (scale * stretch) * flip
        d = torch.cos(angle) / scale
        centre = torch.stack([self.uniform(n, 0, 1), self.uniform(n, 0, 1)], 1)
        # Keep much of the crop inside.
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
        regions = F.grid_sample(
            self.regions[pick].float(), grid, mode="nearest", padding_mode="zeros", align_corners=False
        )
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
        """Positives' strength in [0, 1], and 1 where there is something to learn."""
        here = (regions > 0).float()
        edge = torch.zeros_like(regions)
        right = (regions[..., 1:] != regions[..., :-1]).float() * here[..., 1:] * here[..., :-1]
        below = (regions[..., 1:, :] != regions[..., :-1, :]).float() * here[..., 1:, :] * here[..., :-1, :]
        edge[..., :-1] = right
        edge[..., :-1, :] = torch.maximum(edge[..., :-1, :], below)
        near = F.max_pool2d(edge, 2 * REACH + 1, 1, REACH)
        annotators = here.amax((2, 3)).sum(1).clamp(min=1)[:, None, None, None]
        agreed = near.sum(1, keepdim=True) / annotators
        anybody = edge.amax(1, keepdim=True)
        inside = here.amax(1, keepdim=True)
        # The photograph's end, seen in a warped crop, is no boundary.
        inside = 1 - F.max_pool2d(1 - inside, 5, 1, 2)
        return anybody * agreed, inside


def loss_of(logits, target, weight):
    positive = (target > 0).float() * weight
    negative = weight - positive
    count = positive.sum((1, 2, 3), keepdim=True)
    share = count / weight.sum((1, 2, 3), keepdim=True).clamp(min=1)
    balance = positive * (1 - share) + negative * 1.1 * share
    # Divided by what a share of 3% has, so that empty crops do not outweigh the others.
    each = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return (balance * each).sum((1, 2, 3)).mean() / (0.06 * CROP * CROP)


def full_loss(net, image, target, weight):
    logits, sides = net(image, sides=True)
    loss = loss_of(logits.float(), target, weight)
    for side in sides:
        up = F.interpolate(side.float(), size=target.shape[-2:], mode="bilinear", align_corners=False)
        loss = loss + 0.4 * loss_of(up, target, weight)
    return loss


def strength(net, photograph, device, scales=(1.0,)):
    """Boundary strength of one photograph, averaged over scales."""
    h, w = photograph.shape[:2]
    image = torch.from_numpy(photograph.copy()).to(device).permute(2, 0, 1)[None].float() / 255
    total = 0
    for scale in scales:
        x = image
        if scale != 1.0:
            size = (round(h * scale), round(w * scale))
            x = F.interpolate(image, size=size, mode="bilinear", align_corners=False, antialias=True)
        map_ = torch.sigmoid(net((x - MEAN) * SCALE).float())
        if scale != 1.0:
            map_ = F.interpolate(map_, size=(h, w), mode="bilinear", align_corners=False)
        total = total + map_
    return (total / len(scales))[0, 0]


def rough_f(maps, regions, device):
    """A rough F of boundary maps, to watch the training by: thinned across the steepest direction,
    matched by distance alone, many to one. diacut-evaluate gives the figure that counts."""
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
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--state")
    parser.add_argument("--maps")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    torch.manual_seed(arguments.seed)
    torch.backends.cudnn.benchmark = True

    names, photographs = load_photographs(f"{arguments.data}/images/train")
    crops = Crops(photographs, load_regions(f"{arguments.data}/groundTruth/train", names), device,
                  arguments.seed)
    val_names, val_photographs = load_photographs(f"{arguments.data}/images/val")
    val_regions = load_regions(f"{arguments.data}/groundTruth/val", val_names)

    net = BoundaryNet(**SIZES[arguments.size]).to(device).to(memory_format=torch.channels_last)
    mean = BoundaryNet(**SIZES[arguments.size]).to(device)
    mean.load_state_dict(net.state_dict())
    decay, plain = [], []
    for parameter in net.parameters():
        (decay if parameter.ndim > 1 else plain).append(parameter)
    optimiser = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}],
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

    start, told, kept = time.time() - spent, spent, spent
    while True:
        spent = time.time() - start
        share = step / arguments.steps if arguments.steps else spent / (60 * arguments.minutes)
        if share >= 1:
            break
        rate = arguments.rate * min(1.0, (step + 1) / 500) * 0.5 * (1 + math.cos(math.pi * share))
        for group in optimiser.param_groups:
            group["lr"] = max(rate, 1e-6)
        with torch.no_grad():
            image, target, weight = crops.batch(arguments.batch)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = full_loss(net, image.contiguous(memory_format=torch.channels_last), target, weight)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        step += 1
        keep = min(0.999, step / (step + 100))
        with torch.no_grad():
            ours = [v for v in net.state_dict().values() if v.dtype.is_floating_point]
            averaged = [v for v in mean.state_dict().values() if v.dtype.is_floating_point]
            torch._foreach_lerp_(averaged, ours, 1 - keep)
        if spent - told > 30 or step == 20:
            told = spent
            value = loss.item()
            if not math.isfinite(value):
                sys.exit(f"the loss is {value} at step {step}")
            print(f"{spent:6.0f} s  step {step}  loss {value:.4f}  "
                  f"{step * arguments.batch / max(spent, 1e-9):.0f} crops/s", flush=True)
        if arguments.state and spent - kept > 60:
            kept = spent
            torch.save({"net": net.state_dict(), "mean": mean.state_dict(),
                        "optimiser": optimiser.state_dict(), "random": crops.random.get_state(),
                        "spent": spent, "step": step}, arguments.state + ".part")
            os.replace(arguments.state + ".part", arguments.state)

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
                   f"--batch {arguments.batch} --rate {arguments.rate:g} --seed {arguments.seed}",
    })
    if arguments.maps:
        os.makedirs(arguments.maps, exist_ok=True)
        for name, map_ in zip(val_names, maps):
            Image.fromarray((map_.cpu().numpy() * 255).round().astype(np.uint8)).save(
                f"{arguments.maps}/{name}.png")


if __name__ == "__main__":
    main()
