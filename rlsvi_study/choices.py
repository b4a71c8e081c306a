"""What was chosen and not computed: headlines, thresholds, and what is left without a verdict.

A judge reads its thresholds here, with ``limit``. One that is not a convention of statistics was
chosen with the data at hand, and says so (``late``).
"""

from typing import NamedTuple

# What a reader came to know, the claim that answers it, and the order to tell it in.
HEADLINES = {
    "6.1.learns": "Does RLSVI explore?",
    "6.1.dithering": "Does dithering?",
    "6.1.polynomial": "How does learning time scale?",
    "6.1.robust": "Is it robust to σ and λ?",
    "6.1.rho": "Does it survive wrong features?",
    "6.1.generalization": "Does figure 3 show generalization?",
    "5.theorem1": "Is Theorem 1 true?",
    "G.gauss-dirichlet": "Is Lemma 1?",
    "5.lemma2": "Is Lemma 2?",
    "1.lower-bound": "Is the bound optimal?",
    "B.conjecture-meant": "Is the conjecture true?",
    "6.2.better": "Tetris: better than tuned ε-greedy?",
    "6.2.lspi": "Tetris: better than LSPI?",
    "6.3.boltzmann": "Recommender: better than Boltzmann?",
    "6.3.bandits": "Recommender: better than bandits?",
    "6.3.myopic": "Recommender: better than myopic play?",
}


class Threshold(NamedTuple):
    value: float
    reason: str
    late: bool = True  # chosen with the data at hand


THRESHOLDS = {
    "standard errors": Threshold(4.5, "a simulated mean against an exact one: wrong by chance 7 "
                                      "times in a million", late=False),
    "AIC": Threshold(10, "the usual mark for strong evidence against a law", late=False),
    "learns": Threshold(0.9, "the share of runs that must learn for “it learns”; 45 of 50"),
    "consistently": Threshold(0.95, "the share of runs within twice the printed time for "
                                    "“consistently … roughly”"),
    "roughly": Threshold(2, "within a factor of two of a number that the paper rounds"),
    "essentially": Threshold(0.1, "the share of suboptimal episodes after the first reward that "
                                  "“essentially maintains” may leave"),
    "stable ρ": Threshold(0.95, "the share of runs that learn as long as learning is stable"),
    "not effective": Threshold(0.25, "the share of runs that may still learn at ρ near 1"),
    "same regret": Threshold(2, "“remarkably stable”: at most so many times the regret at the "
                                "reference value"),
    "several orders": Threshold(2, "the least range, in powers of ten, for “several orders of "
                                   "magnitude”"),
    "level": Threshold(0.25, "medians of 50 runs this near one another, relatively, are level: "
                             "some two half-widths of their intervals"),
    "flattening": Threshold(0.5, "the last features cost at most this share of what the first did"),
    "pretty well": Threshold(0.25, "the typical relative miss that “fits pretty well” allows"),
    "similar scale": Threshold(10, "one order of magnitude"),
    "LEARNED": Threshold(1000, "rows per game of a block: between the tens of a beginner and the "
                               "thousands of a player there is nothing"),
    "collapse": Threshold(0.5, "the last 200 games score less than this share of what they would "
                               "without a decline"),
    "decline": Threshold(0.05, "the last 200 games are below this quantile of their simulated law "
                               "without a decline", late=False),
    "much better": Threshold(1.5, "“greatly outperforms”, “much better”: at least so many times "
                                  "the score"),
    "needed": Threshold(0.5, "dithering “does not learn” if its regret exceeds RLSVI's by this "
                             "share or more"),
    "aims at": Threshold(0.99, "the share of the myopic reward that the bandit's target must earn"),
    "effective": Threshold(2, "“effective approximation to PSRL”: at most so many times its "
                              "regret"),
    "in effect": Threshold(3, "the same for “in part”, with the parameters that do best here"),
    "most settings": Threshold(0.8, "the share of settings that must agree for a general "
                                    "statement"),
    "slightly": Threshold(1.1, "“differs only slightly”: by at most a tenth"),
}


def limit(name: str) -> float:
    return THRESHOLDS[name].value


# Sentences that could be true or false and have no entry: where, what, why.
NOT_JUDGED = (
    ("Section 1", "earlier algorithms need time exponential in the number of model parameters",
     "no example is given; the chain is one for the horizon alone (1.exponential)"),
    ("Section 1", "model-based algorithms are intractable, KWIK regression is open, OCP is "
     "sensitive, C-PACE does not extrapolate, Dearden et al. is the only precursor",
     "statements about other papers"),
    ("Section 3", "provably efficient schemes must direct exploration over several steps",
     "a summary of the literature; no theorem is named"),
    ("Section 4", "Thompson sampling explores efficiently; PSRL's regret scales with the dimension",
     "theorems of other papers"),
    ("Section 5", "so far no algorithm with linear value functions has a regret bound",
     "a statement about the literature of 2016"),
    ("Section 5", "Σ K(s,a,h) log(T + K(s,a,h))", "a sum of the sizes in 5.bias-size, which are "
     "printed too small by H²; 5.theorem1 has the term that takes its place"),
    ("Section 6.1", "state of the art results in more practical problems",
     "neither problem has a state of the art named; the text disclaims it for Tetris"),
    ("Section 6.2", "LSPI collapses, needs a scoring initial policy and many more games",
     "LSPI was not run here; its level 3183 is taken from the text"),
    ("Section 6.2", "far superior linear features for Tetris are well known",
     "no source and no score is named; scores of published players under our rules are in "
     "chapter 6.2"),
    ("Section 6.2", "five seeds", "we have more; how many is said with each number"),
    ("Appendix C", "too small a σ resembles Thompson sampling's analyses and Theorem 1",
     "a resemblance (the effect itself: C.small-sigma)"),
    ("Appendix D", "γ = 0.99 was helpful for stability", "other values of γ were not run"),
    ("Appendix D", "computation negligible against the simulator", "about their simulator; no "
     "timings are stored here"),
    ("Appendix D", "a wider prior over the variance is more robust", "a belief; not run with a "
     "wrong σ"),
    ("Appendix F", "stochastic gradient descent in place of the batch", "not specified"),
    ("all", "what the figures show", "the source that we have holds no pictures: every comparison "
     "is with the text"),
)
