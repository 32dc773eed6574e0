#!/usr/bin/env python3
"""Adds an embedding to a trained network: vectors that lie near each other within a thing and far apart
between two things. Merging reads them (docs/merging.md). The boundary map stays what it was.

    embedding.py --data BSDS500 --weights NETWORK.safetensors --out WEIGHTS.safetensors
                 [--steps 1500] [--seed 1] [--fold K/N] [--splits train,val] [--drawn SHARE]

--data, --fold and --drawn are those of train.py: a network and its embedding have to leave out the same photographs.

The loss: the regions that one annotator drew are divided by a grid into pieces. Two pieces near each other,
with mean vectors at the distance d, lie in different regions with the probability 1 / (1 + exp(c - d^2)); c is
learned. Each pair counts as the smaller piece. Needs a GPU, PyTorch, NumPy, SciPy and Pillow.
"""
import argparse
import math
import os
import sys

import torch
import torch.nn.functional as F

from crops import Crops
from data import load_contours, settle, together
from drawn import check_drawn, with_drawn
from network import SIZES, BoundaryNet, Embedding, load, save
from run_file import read_file

CELL = 4  # Pixels along a side of a pixel of level 2.
GRIDS = (8, 12, 20, 32)  # Sides of the pieces, in such pixels.
REACH = 2  # Pieces so many squares of the grid apart are compared.
LEAST = 6  # Smaller pieces are not, in pixels of level 2.
SQUARES = 16  # More than the grid has along a side.
REGIONS = 4096  # More than anybody drew.
RATE, DECAY, BATCH = 3e-3, 0.02, 16
AVERAGE = 0.995  # The weights written are an exponential average over the steps, from a quarter of them on.
WEATHER = 0.5  # The share of the crops that are degraded.


class RegionCrops(Crops):
    """Crops whose targets are the regions that people drew: n x annotators x CROP x CROP, 0 for none."""

    def target(self, regions):
        return regions, regions


def loss_of(vectors, offset, regions, generator):
    """vectors: n x channels x H x W of level 2."""
    n, device = vectors.shape[0], vectors.device
    drawn = (regions > 0).flatten(2).any(2).float()
    who = torch.multinomial(drawn + 1e-6, 1)[:, 0]
    half = CELL // 2
    region = regions[torch.arange(n, device=device), who][:, half::CELL, half::CELL].long()
    size = GRIDS[torch.randint(len(GRIDS), (1,), generator=generator)]
    shift = torch.randint(size, (2,), generator=generator)
    line = torch.arange(region.shape[-1], device=device)
    square = ((line + shift[0]) // size)[:, None] * SQUARES + (line + shift[1]) // size
    image = torch.arange(n, device=device)[:, None, None]
    piece = (image * REGIONS + region) * SQUARES**2 + square
    there = region > 0
    pieces, of, count = torch.unique(piece[there], return_inverse=True, return_counts=True)
    mean = torch.zeros(len(pieces), vectors.shape[1], device=device)
    mean = mean.index_add(0, of, vectors.permute(0, 2, 3, 1)[there]) / count[:, None]
    large = count >= LEAST
    pieces, count, mean = pieces[large], count[large], mean[large]
    image, row, column = pieces // (REGIONS * SQUARES**2), pieces // SQUARES % SQUARES, pieces % SQUARES
    near = image[:, None] == image
    for at in (row, column):
        near &= (at[:, None] - at).abs() <= REACH
    first, second = torch.triu(near, 1).nonzero(as_tuple=True)
    logits = (mean[first] - mean[second]).square().sum(1) - offset
    different = (pieces[first] // SQUARES**2 != pieces[second] // SQUARES**2).float()
    weight = torch.minimum(count[first], count[second]).float()
    each = F.binary_cross_entropy_with_logits(logits, different, reduction="none")
    return (each * weight).sum() / weight.sum()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder of BSDS500")
    parser.add_argument("--weights", required=True, help="the network, .safetensors")
    parser.add_argument("--out", required=True, help="the file to write, .safetensors")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drawn", type=float, default=0.0, help="as train.py's")
    parser.add_argument("--fold", help="K/N: leave out every N-th photograph from the K-th on, K from 0")
    parser.add_argument("--splits", default="train", help="train, or train,val")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    settle(parser, options)
    check_drawn(parser, options)
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        parser.error("PyTorch sees no GPU; --device cpu trains without, very slowly")
    try:
        options.network = read_file(options.weights)
    except (OSError, ValueError) as error:
        parser.error(f"--weights: {error}")
    if options.network[2].get("size") not in SIZES or options.network[2].get("outputs", "boundary") != "boundary":
        parser.error(f"--weights {options.weights}: expected a network of train.py for contours")
    return options


def train(net, options):
    device = torch.device(options.device)
    torch.manual_seed(options.seed)
    generator = torch.Generator().manual_seed(options.seed)
    known, _ = together(load_contours(options.data, split) for split in options.splits).divided(options.fold)
    known, drawn = with_drawn(known, options)
    crops = RegionCrops(known.photographs, known.regions, device, options.seed, WEATHER, **drawn)
    embedding = Embedding(net).to(device)
    offset = torch.nn.Parameter(torch.tensor(2.0, device=device))
    optimizer = torch.optim.AdamW([*embedding.parameters(), offset], lr=RATE, weight_decay=DECAY)
    average, mean_loss = None, None
    for step in range(options.steps):
        for group in optimizer.param_groups:
            rising, falling = min(1, (step + 1) / 100), 0.5 * (1 + math.cos(math.pi * step / options.steps))
            group["lr"] = RATE * rising * falling
        image, _, regions, _ = crops.batch(BATCH)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            with torch.no_grad():
                read = net.for_embedding(image)
            vectors = embedding(*read)
        loss = loss_of(vectors.float(), offset, regions, generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        now = {key: value.detach().float().clone() for key, value in embedding.state_dict().items()}
        if average is None or step < options.steps // 4:
            average = now
        else:
            average = {key: AVERAGE * average[key] + (1 - AVERAGE) * now[key] for key in now}
        mean_loss = loss.item() if mean_loss is None else 0.98 * mean_loss + 0.02 * loss.item()
        if step % 100 == 0 or step + 1 == options.steps:
            print(f"  step {step}  loss {mean_loss:.4f}  offset {offset.item():.2f}", flush=True)
    embedding.load_state_dict(average)
    return embedding.eval()


def main():
    options = arguments()
    _, tensors, metadata = options.network
    net = BoundaryNet(**SIZES[metadata["size"]])
    load(net, options.weights, tensors)
    net.to(options.device).eval().requires_grad_(False)
    embedding = train(net, options)
    about = {key: metadata[key] for key in ("size", "command", "trained_on") if key in metadata}
    about["embedding_command"] = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
    save(net, options.out, about, embedding)
    print(f"{options.out}: written after {options.steps} steps")


if __name__ == "__main__":
    main()
