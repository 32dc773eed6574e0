"""Progress, with tqdm or a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

#: False or None: nothing is called. True: tqdm shows a bar. Else a function: Segmenter.segment() calls it
#: with a stage's name and the share of it that is done, Segmenter.map() with the images that are done
#: and how many there are, or None where that is not known.
Progress = Union[bool, None, Callable[..., Any]]


def _bar(**settings: Any) -> Any:
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise ImportError(
            "progress=True shows a bar of tqdm, which is not installed: pip install tqdm"
        ) from None
    return tqdm(**settings)


@contextmanager
def stage_progress(progress: Progress) -> Iterator[Callable[[str, float], Any] | None]:
    """The function that the work on one image calls."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with _bar(total=100, bar_format="{desc:<14}|{bar}| {n:3.0f}% [{elapsed}]") as bar:

            def show(stage: str, share: float) -> None:
                bar.set_description_str(stage, refresh=False)
                bar.n = 100 * share
                bar.refresh()

            yield show
    else:
        yield progress


@contextmanager
def image_progress(
    progress: Progress, total: int | None
) -> Iterator[Callable[[], Any] | None]:
    """The function that is called when one more image of several is done."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with _bar(total=total, unit="image") as bar:
            yield bar.update
    else:
        done = 0

        def count() -> None:
            nonlocal done
            done += 1
            progress(done, total)

        yield count
