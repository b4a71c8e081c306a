"""Tetris in plain Python, slow and obvious: what the compiled form is checked and timed against.

A board is a set of full squares (x, y). Nothing here is shared with ``rlsvi_core.envs.tetris``.
"""

from itertools import pairwise

SHAPES = {
    "I": [(0, 0), (1, 0), (2, 0), (3, 0)],
    "O": [(0, 0), (1, 0), (0, 1), (1, 1)],
    "T": [(0, 0), (1, 0), (2, 0), (1, 1)],
    "S": [(0, 0), (1, 0), (1, 1), (2, 1)],
    "Z": [(1, 0), (2, 0), (0, 1), (1, 1)],
    "L": [(0, 0), (1, 0), (2, 0), (2, 1)],
    "J": [(0, 0), (1, 0), (2, 0), (0, 1)],
}


def turns(piece):
    """The piece turned by quarters, each shape once, its lower left corner at (0, 0)."""
    squares, found = SHAPES[piece], []
    for _ in range(4):
        left, low = min(x for x, _ in squares), min(y for _, y in squares)
        shape = frozenset((x - left, y - low) for x, y in squares)
        if shape not in found:
            found.append(shape)
        squares = [(y, -x) for x, y in squares]
    return found


def drop(board, shape, column):
    """Let the shape fall from far above until it would touch; returns its squares."""
    highest = max((y for _, y in board), default=0)
    y0 = highest + 10
    while y0 > 0 and not any((x + column, y + y0 - 1) in board for x, y in shape):
        y0 -= 1
    return {(x + column, y + y0) for x, y in shape}


def clear(board, width):
    """Remove full rows, one at a time from the top; returns the board and how many there were."""
    full = [y for y in {y for _, y in board} if all((x, y) in board for x in range(width))]
    for gone in sorted(full, reverse=True):
        board = {(x, y - (y > gone)) for x, y in board if y != gone}
    return board, len(full)


def features(board, width):
    heights = [max((y + 1 for x, y in board if x == column), default=0) for column in range(width)]
    steps = [abs(a - b) for a, b in pairwise(heights)]
    holes = sum((x, y) not in board for x in range(width) for y in range(heights[x]))
    return [*heights, *steps, max(heights), holes, 1]


def outcomes(board, piece, width, height, rule):
    """{squares of the piece: (board after, features, rows cleared, whether it ends the game)}."""
    found = {}
    for shape in turns(piece):
        for column in range(width - max(x for x, _ in shape)):
            squares = drop(board, shape, column)
            after, cleared = clear(board | squares, width)
            sticks_out = any(y >= height for _, y in squares)
            passes_top = any(y >= height for _, y in after)
            fills_top_row = any(y >= height - 1 for _, y in after)
            match rule:
                case "top row":
                    legal, ends = not sticks_out, fills_top_row
                case "touches":
                    legal, ends = not sticks_out, any(y >= height - 1 for _, y in squares)
                case "fits":
                    legal, ends = not sticks_out, False
                case "clears":
                    legal, ends = not passes_top, False
                case "overflow":
                    legal, ends = True, passes_top
                case "overflow top":
                    legal, ends = True, fills_top_row
            if legal:
                found[frozenset(squares)] = after, features(after, width), cleared, ends
    return found
