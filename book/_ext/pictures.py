"""Whether two pictures look alike. Bytes differ between machines and versions; what one sees does not.

``python -m book._ext.pictures`` copies the README's picture from the chapter that computes it.
"""

import base64
import json
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SIDE = 8  # of the squares that are compared, in pixels
ROOT = Path(__file__).parents[2]
README = ("06-chains", "fig-2a", ROOT / "results/fig2a.png")  # chapter, label, file
SEEN = 0.1  # the change of a square's colour that one sees: a thin line has come or gone


def squares(png: bytes) -> np.ndarray:
    """The mean colour of every square, on white, between 0 and 1."""
    picture = Image.open(BytesIO(png)).convert("RGBA")
    on_white = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    return np.asarray(on_white.convert("RGB").reduce(SIDE)) / 255


def difference(one: bytes, other: bytes) -> str:
    """What differs between two pictures as one sees them; nothing, if they look alike."""
    before, now = squares(one), squares(other)
    if before.shape != now.shape:
        return f"{before.shape[1]} × {before.shape[0]} squares, now {now.shape[1]} × {now.shape[0]}"
    changed = np.abs(before - now).max(axis=2) > SEEN
    if not changed.any():
        return ""
    place = ", ".join(f"{int(x.mean() * SIDE)}" for x in np.nonzero(changed)[::-1])
    return f"{changed.sum()} of {changed.size} squares have another colour, about pixel ({place})"


def differences(stored: list[Any], now: list[Any]) -> list[str]:
    """What differs between the pictures among a cell's outputs."""
    ours, theirs = (
        [one["data"]["image/png"] for one in outputs if "image/png" in one.get("data", {})]
        for outputs in (stored, now)
    )
    return [
        f"picture {n}: {said}"
        for n, (one, other) in enumerate(zip_longest(ours, theirs), 1)
        if (
            said := difference(base64.b64decode(one), base64.b64decode(other))
            if one and other
            else "only one of the two has it"
        )
    ]


def picture(chapter: str, label: str) -> bytes:
    """The stored picture of a chapter's figure."""
    cells = json.loads((ROOT / f"book/{chapter}.ipynb").read_text("utf8"))["cells"]
    (cell,) = (
        cell
        for cell in cells
        if cell["metadata"].get("mystnb", {}).get("figure", {}).get("name") == label
    )
    (png,) = (out["data"]["image/png"] for out in cell["outputs"] if "data" in out)
    return base64.b64decode(png)


if __name__ == "__main__":
    chapter, label, file = README
    file.write_bytes(picture(chapter, label))
