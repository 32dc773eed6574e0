#!/usr/bin/env python3
"""Writes texture and colour features of a photograph, for `segment PHOTO --features FEATURES.npy`.

    texture_features.py PHOTO FEATURES.npy

64 channels in float32, of the photograph's size: the magnitudes of 40 Gabor filters of the lightness (5
frequencies, 8 orientations), smoothed, and the mean and the standard deviation of L, a and b around each
pixel at 4 scales. Each channel is divided by its standard deviation. Needs scikit-image.
"""
import sys

import numpy as np
from scipy.ndimage import gaussian_filter
from skimage import color, filters, io, util


def features(photo):
    lab = color.rgb2lab(util.img_as_float(photo)[..., :3]) / 100
    channels = []
    for frequency in (0.05, 0.08, 0.13, 0.2, 0.32):
        for k in range(8):
            real, imaginary = filters.gabor(lab[..., 0], frequency, theta=k * np.pi / 8)
            channels.append(gaussian_filter(np.hypot(real, imaginary), 1 / frequency))
    for sigma in (1, 2, 4, 8):
        for channel in np.moveaxis(lab, -1, 0):
            mean = gaussian_filter(channel, sigma)
            channels.append(mean)
            channels.append(np.sqrt(gaussian_filter((channel - mean) ** 2, sigma)))
    stack = np.stack(channels, axis=-1)
    stack -= stack.mean(axis=(0, 1))
    return (stack / stack.std(axis=(0, 1))).astype(np.float32)


if __name__ == "__main__":
    np.save(sys.argv[2], features(io.imread(sys.argv[1])))
