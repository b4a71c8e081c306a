"""A chapter's figure that has changed is noticed, by what one would see."""

import base64
from io import BytesIO

import matplotlib.pyplot as plt
import pytest
from PIL import Image

from book._ext.pictures import README, difference, differences, picture


def drawn(line=0.0, legend=True, colour="tab:blue", size=(6.4, 4.8), dpi=200):
    figure, ax = plt.subplots(figsize=size)
    ax.plot([0, 1], [line, 1], color=colour, label="RLSVI")
    ax.set(xlim=(0, 1), ylim=(-0.1, 1.1))
    if legend:
        ax.legend()
    figure.savefig(file := BytesIO(), dpi=dpi)
    plt.close(figure)
    return file.getvalue()


def of_few_colours(png):
    Image.open(BytesIO(png)).convert("RGB").quantize(256).save(file := BytesIO(), "png")
    return file.getvalue()


def one_pixel():
    Image.new("RGB", (1, 1), "white").save(file := BytesIO(), "png")
    return file.getvalue()


@pytest.mark.parametrize(
    "alike", [drawn, lambda: drawn(line=0.0005), lambda: of_few_colours(drawn())]
)
def test_what_looks_alike_passes(alike):
    assert not difference(drawn(), alike())


@pytest.mark.parametrize(
    "changed",
    [
        one_pixel,
        lambda: drawn(line=0.02),
        lambda: drawn(legend=False),
        lambda: drawn(colour="tab:orange"),
        lambda: drawn(size=(6.4, 5)),
    ],
    ids=["one pixel", "a moved line", "no legend", "another colour", "another size"],
)
def test_what_one_would_see_is_seen(changed):
    assert difference(drawn(), changed())


def test_a_picture_more_or_less_is_a_difference():
    picture = {"data": {"image/png": base64.b64encode(drawn()).decode()}}
    assert not differences([picture, {"text": "so"}], [picture])
    assert differences([picture], []) == ["picture 1: only one of the two has it"]
    assert differences([], [picture])


def test_the_readme_has_the_picture_of_its_chapter():
    chapter, label, file = README
    assert file.read_bytes() == picture(chapter, label), "run: python -m book._ext.pictures"
