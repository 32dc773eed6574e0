"""The loss: half class-balanced cross-entropy (Xie and Tu 2015), half Dice (Deng et al. 2018)."""
import torch
import torch.nn.functional as F

SIDES = 0.4  # The weight of the coarser levels' maps.


def dice(strength, target, weight):
    both = (weight * strength * target).sum((1, 2, 3))
    squares = (weight * (strength * strength + target * target)).sum((1, 2, 3))
    return (1 - (2 * both + 1) / (squares + 1)).mean()


def balanced(logits, target, positive, weight):
    """Cross-entropy with each class weighted by the share of the other class in the image."""
    share = (positive * weight).sum((1, 2, 3), keepdim=True)
    share = share / weight.sum((1, 2, 3), keepdim=True).clamp(min=1)
    balance = weight * (positive * (1 - share) + (1 - positive) * 1.1 * share)
    each = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    # Divided by the weight at a share of 3% positives, so that empty crops do not outweigh the others.
    return (balance * each).sum((1, 2, 3)).mean() / (0.06 * target.shape[-1] * target.shape[-2])


def boundary_loss(logits, target, weight):
    return 0.5 * balanced(logits, target, (target > 0).float(), weight) + 0.5 * dice(
        torch.sigmoid(logits), target, weight)


def taught_loss(logits, taught, weight):
    """The loss against the outputs of teachers, which give every pixel a target between 0 and 1."""
    return 0.5 * balanced(logits, taught, taught, weight) + 0.5 * dice(
        torch.sigmoid(logits), taught, weight)


def inside_loss(logits, target, weight):
    each = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return 0.5 * each.mean() + 0.5 * dice(torch.sigmoid(logits), target, weight)


def map_loss(logits, target, weight, taught, share):
    """Of the first channel, boundaries, and of the second one if there is one, insides of objects."""
    total = (1 - share) * boundary_loss(logits[:, :1], target[:, :1], weight[:, :1])
    if taught is not None:
        total = total + share * taught_loss(logits[:, :1], taught[:, :1], torch.ones_like(taught[:, :1]))
    if logits.shape[1] > 1:
        total = total + (1 - share) * inside_loss(logits[:, 1:], target[:, 1:], weight[:, 1:])
        if taught is not None:
            total = total + share * inside_loss(logits[:, 1:], taught[:, 1:], weight[:, 1:])
    return total


def full_loss(net, image, target, weight, taught=None, share=0.0, coarser=True):
    """coarser: whether the maps of the coarser levels count too."""
    logits, sides = net(image, sides=True)
    total = map_loss(logits.float(), target, weight, taught, share)
    for side in sides if coarser else []:
        up = F.interpolate(side.float(), size=target.shape[-2:], mode="bilinear", align_corners=False)
        total = total + SIDES * map_loss(up, target, weight, taught, share)
    return total
