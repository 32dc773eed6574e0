"""Maps of whole photographs, as diacut computes them."""
import os

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

from network import MEAN, SCALE

BORDER = 24  # Pixels mirrored at the edges of a whole photograph, as diacut does.
ENDINGS = (".png", ".inside.png")  # Of the files of a map, by channel.


def planes_of(photograph, device):
    return torch.from_numpy(photograph.copy()).to(device).permute(2, 0, 1)[None].float() / 255


def strength(net, photograph, device, scales=(0.5, 1.0)):
    """The map of one photograph, channels x height x width, averaged over scales."""
    h, w = photograph.shape[:2]
    image = planes_of(photograph, device)
    total = 0
    for scale in scales:
        x = image
        if scale != 1.0:
            size = (round(h * scale), round(w * scale))
            x = F.interpolate(image, size=size, mode="bilinear", align_corners=False,
                              antialias=scale < 1)
        rows, columns = (torch.tensor(np.pad(np.arange(n), BORDER, mode="symmetric"), device=device)
                         for n in x.shape[-2:])
        x = x[:, :, rows][:, :, :, columns]
        map_ = torch.sigmoid(net((x - MEAN) * SCALE).float())[..., BORDER:-BORDER, BORDER:-BORDER]
        if scale != 1.0:
            map_ = F.interpolate(map_, size=(h, w), mode="bilinear", align_corners=False)
        total = total + map_
    return (total / len(scales))[0]


def write_maps(folder, names, maps):
    os.makedirs(folder, exist_ok=True)
    for name, map_ in zip(names, maps):
        for channel, ending in zip((map_.cpu().numpy() * 255).round().astype(np.uint8), ENDINGS):
            Image.fromarray(channel).save(f"{folder}/{name}{ending}")
