"""Section 5: RLSVI's regret without generalization, Lemma 2 and Theorem 1."""

from .. import Topic

TOPIC = Topic(
    tables=("theorem1", "theorem1-tuned", "theorem1-bound"),
    claims=("5", "6"),
)
