"""The recommendation engine: section 6.3 and appendix E."""

from .. import Topic

TOPIC = Topic(
    tables=(
        "recommender",
        "recommender-later",
        "recommender-readings",
        "recommender-rivals",
    ),
    figures={"fig8": ("recommender",), "fig9": ("recommender",)},
    claims=("6.3",),
)
