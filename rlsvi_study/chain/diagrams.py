"""Drawings without data: the chain, two periods by hand, and the boards of a lecture."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import style
from ..style import (
    COLOUR,
    subplots,
    with_style,
)


def draw_backup_arc(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], bend: float
) -> None:
    """The way by which a value is carried back to where it can be acted on: dotted, since nobody
    moves along it."""
    arc = {
        "connectionstyle": f"arc3,rad={bend}",
        "color": COLOUR["rlsvi"],
        "shrinkA": 12,
        "shrinkB": 12,
    }
    dots = {"arrowstyle": "-", "lw": 2.5, "ls": ":"}
    head = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "lw": 0.1}
    for look in (dots, head):
        ax.annotate("", end, start, arrowprops=arc | look)


@with_style
def draw_chain(N: int = 50) -> Figure:
    """Figure 1: the chain. Solid arrows go left for sure, dashed ones right with a slip."""
    fig, ax = subplots(height=2.0)
    ax.set(xlim=(-0.8, 5.8), ylim=(-0.85, 0.95), aspect="equal")
    ax.axis("off")
    for x, text in {0: "1", 1: "2", 2: "3", 4: f"N−1\n= {N - 1}", 5: f"N\n= {N}"}.items():
        ax.add_patch(plt.Circle((x, 0), 0.3, fc="#FBEFA9" if x == 5 else "#EEEEEE", ec="black"))
        ax.text(x, 0, text, ha="center", va="center")
    ax.text(3, 0, "· · ·", ha="center", va="center", fontsize=20)

    bent = {"arrowstyle": "-|>", "connectionstyle": "arc3,rad=-0.35", "shrinkA": 0, "shrinkB": 0}
    for x in range(5):
        left, right = x + (0.3 if x == 3 else 0.22), x + (0.7 if x == 2 else 0.78)
        ax.annotate(
            "", (right, 0.17), (left, 0.17), arrowprops=bent | {"color": "black", "ls": "--"}
        )
        ax.annotate("", (left, -0.17), (right, -0.17), arrowprops=bent | {"color": "0.5"})
    ax.text(2.5, 0.72, "right: works with probability 1 − 1/N, else moves left", ha="center")
    ax.text(2.5, -0.78, "left: always works", ha="center", color="0.4")
    ax.text(0, 0.42, "start", ha="center")
    ax.text(5, 0.42, "reward 1", ha="center")
    return fig


@with_style
def draw_two_periods(pairs: dict[tuple[int, int, int], str]) -> Figure:
    """States from left to right, periods from top to bottom; each arrow, from state s of period h
    to a state of the next, has its label. The last one's value is carried back to the start."""
    fig, ax = subplots(height=3.3)
    ax.set(xlim=(0, 5.0), ylim=(2.3, -0.3))
    ax.axis("off")
    for h, s, after in pairs:
        ax.annotate(
            "",
            (after, h + 1),
            (s, h),
            arrowprops={"arrowstyle": "-|>", "color": "0.4", "shrinkA": 13, "shrinkB": 13},
        )
        side = 1 if after > s else -1
        ax.text(
            s + 0.35 * (after - s) + 0.2 * side,
            h + 0.35,
            pairs[h, s, after],
            ha="left" if side > 0 else "right",
            va="center",
        )
    for h, s in sorted({(h, s) for h, s, _ in pairs} | {(h + 1, s) for h, _, s in pairs}):
        ax.text(
            s,
            h,
            str(s),
            ha="center",
            va="center",
            bbox={
                "boxstyle": "circle,pad=0.35",
                "fc": "#FBEFA9" if s == 4 else "#EEEEEE",
                "ec": "black",
            },
        )
    for h, name in enumerate(("period 0", "period 1", "end")):
        ax.text(0, h, name, va="center", color="0.4")
    draw_backup_arc(ax, (4, 2), (2, 0), 0.62)
    said = "no move:\nthe fit carries\nvalues back"
    ax.text(4.0, 0.15, said, ha="left", va="center", color=style.readable_colour(COLOUR["rlsvi"]))
    return fig


HEADS = ("", "state, action", "n", "z", "target", "value")


def draw_text_table(ax: Axes, rows: list[tuple[str, ...]], top: float, step: float) -> None:
    """A table of text. A thick line stands where the first column changes, which is then said."""
    for i, row in enumerate([HEADS, *rows]):
        y, before = top - step * i, [HEADS, HEADS, *rows][i]
        if i and row[0] != before[0]:
            ax.plot((0.05, 6.95), 2 * [y + step / 2], color="0.3", lw=1.2)
            ax.text(0.1, y, row[0], va="center")
        elif i:
            ax.plot((1.85, 6.95), 2 * [y + step / 2], color="0.8", lw=0.8)
        for x, text in zip((1.85, 3.4, 4.1, 4.95, 6.0), row[1:], strict=True):
            ax.text(x, y, text.replace("-", "−"), va="center", color="black" if i else "0.35")


def draw_states(ax: Axes, y: float, names: str, apart: float) -> None:
    """A row of them, the last of which pays."""
    for i, name in enumerate(names):
        circle = {
            "boxstyle": "circle,pad=0.25",
            "fc": "#EEEEEE" if i < len(names) - 1 else "#FBEFA9",
            "ec": "black",
        }
        at = {"ha": "center", "va": "center", "bbox": None if name == "…" else circle}
        ax.text(0.75 + apart * i, y, f"${name}$", **at)


@with_style
def draw_blank_table(rows: list[tuple[str, ...]]) -> Figure:
    """Two periods by hand, as a table with room to write."""
    height = 0.4 * (len(rows) + 1)
    fig, ax = subplots(height=height)
    ax.set(xlim=(0, 7), ylim=(0, height))
    ax.axis("off")
    draw_text_table(ax, rows, height - 0.2, 0.4)
    return fig


@with_style
def draw_lecture_board(rows: list[tuple[str, ...]]) -> Figure:
    """The board at the end of lecture 1, with the letters of its plan."""
    fig, ax = subplots(height=7.8)
    ax.set(xlim=(0, 7), ylim=(0, 7.8))
    ax.axis("off")
    for x, y, text in (
        (0.1, 7.5, "(a)"),
        (0.55, 7.05, r"Right slips left: $1/N$"),
        (0.1, 6.6, r"(b)  $\theta = 0$: coin flips"),
        (0.1, 6.15, r"(c)  $q = p^*\,2^{-(N-1)}$"),
        (0.1, 5.7, r"(d)  wait  $1/q - 1$"),
        (3.6, 7.5, r"(j)  for $h = H-1, \dots, 0$:"),
        (4.05, 6.9, r"$b_i = r_i + \max_\alpha\,\tilde Q_{h+1}(s'_i, \alpha)$"),
        (4.05, 6.3, r"$\Sigma = (A^T A/\sigma^2 + \lambda I)^{-1}$"),
        (4.05, 5.7, r"$\tilde\theta_h \sim N(\Sigma A^T b/\sigma^2,\; \Sigma)$"),
        (0.1, 5.0, "(e)"),
        (3.6, 5.0, r"(f)  $\tilde Q = \frac{n}{n+1}\,\bar b + z\,/\,\sqrt{n+1}$"),
        (0.1, 0.9, r"(k)  $\mathrm{Var}\,\tilde Q_h = c^2\,\mathrm{Var}\,\tilde V_{h+1} + \dots$"),
        (3.9, 0.9, r"$c = n\,/\,(n + \lambda\sigma^2)$"),
        (0.1, 0.35, r"(l)  $\tilde Q = \bar Q$ + optimism + spread"),
    ):
        ax.text(x, y, text, va="center")
    draw_states(ax, 7.5, "12…N", 0.7)
    draw_states(ax, 5.0, "1234", 0.8)
    for x, head in ((0.75, "<|-|>"), (1.55, "<|-|>"), (2.35, "-|>")):
        ends = {"arrowstyle": head, "color": "0.4", "shrinkA": 12, "shrinkB": 12}
        ax.annotate("", (x + 0.8, 5.0), (x, 5.0), arrowprops=ends)
    for x, text in ((1.55, "start"), (3.15, "reward")):
        ax.text(x, 4.62, text, ha="center", va="center", color="0.35")
    for y in (5.35, 4.45, 1.3):
        ax.plot((0, 7), (y, y), color="0.3", lw=1.2)
    draw_text_table(ax, rows, 4.22, 0.34)
    return fig


# How ``rlsvi plot`` draws each stored table and some of the paper's figures
