"""What was chosen and not computed: headlines, thresholds, and what is left without a verdict.

A judge reads its thresholds here, with ``limit``. One that is not a convention of statistics was
chosen with the data at hand, and says so (``late``).
"""

from typing import NamedTuple


class Headline(NamedTuple):
    question: str
    answer: str  # one sentence, filled in from the numbers that the claim's judge returns


HEADLINES = {  # the claims that answer what a reader came to know, in the order to tell them
    "6.1.learns": Headline(
        "Does RLSVI explore?", "Yes: it learns the 50-chain in {median:.0f} episodes in the median "
        "({interval[0]:.0f}–{interval[1]:.0f}; the paper has roughly 500), where dithering would "
        "wait {dithering:.2g} for its first reward, on average."),
    "6.1.polynomial": Headline(
        "How does learning time scale?", "Polynomially, as far as tried: locally with the power "
        "{N[powers][0][power]:.2f} ({N[powers][0][low]:.2f}–{N[powers][0][high]:.2f}) of N up to "
        "50 and {N[powers][1][power]:.2f} ({N[powers][1][low]:.2f}–{N[powers][1][high]:.2f}) up to "
        "200; with more and more features it flattens."),
    "6.1.generalization": Headline(
        "Does the paper's Figure 3 show generalization?", "Not by itself: tabular RLSVI is below "
        "its “tabular lower bound” too: {tabular[50]:.0f} episodes at N = 50 "
        "({one_hot[0]:.0f}–{one_hot[1]:.0f}), the line is at {line[50]:.0f}; ten features take "
        "{ten:.0f}."),
    "6.1.robust": Headline(
        "Is it robust to λ and σ?", "Yes: regret is at most {most[lam].median:.2f} "
        "({most[lam].low:.2f}–{most[lam].high:.2f}) times that at λ = 1 for λ from {lam[0]:.0e} to "
        "{lam[1]:.0e}, and at most {most[sigma].median:.2f} ({most[sigma].low:.2f}–"
        "{most[sigma].high:.2f}) times that at σ = 0.1 for smaller σ, from {sigma[0]:.0e} on."),
    "5.theorem1": Headline(
        "Is Theorem 1 true?", "Yes, at its smallest λ and σ, by another proof than the printed "
        "one, on average over the prior and not in the worst case; the regret measured is at most "
        "{share.mean:.2f} ({share.low:.2f}–{share.high:.2f}) of the bound so proved."),
    "5.lemma2": Headline(
        "Are its two lemmas true?", "Yes, by other proofs than the printed ones: Lemma 1 is "
        "certified with variance π/(8n), 2.5 times less, everywhere with a margin of "
        "{lemma1[margin]:.2g} or more; Lemma 2 is refuted in {refuted} of {comparisons} "
        "comparisons, none of which can be short by more than {shortfall:.2g} (0–{shortfall:.2g} "
        "at error rate {error_rate:g} in all)."),
    "B.conjecture-meant": Headline(
        "Is the conjecture true?", "No: in a world with one feature regret provably grows "
        "{growth[0]:.3g}-fold or more with every period of an episode, where the conjecture's √T "
        "doubles; measured there, RLSVI begins with the worst action in {leaps[12].median:.0f} "
        "({leaps[12].low:.0f}–{leaps[12].high:.0f}) episodes in the median if they have 12 "
        "periods, and in {leaps[6].median:.0f} if they have 6."),
    "6.2.better": Headline(
        "Tetris: better than tuned ε-greedy?", "It depends on how a game ends: against the "
        "best schedule in hindsight {clears[mean]:+.0f} rows per game ({clears[low]:+.0f} to "
        "{clears[high]:+.0f}) if pieces may stick out, {top row[mean]:+.0f} ({top row[low]:+.0f} "
        "to {top row[high]:+.0f}) by the printed rule."),
    "6.2.lspi": Headline(
        "Tetris: better than LSPI, for which the paper has 3183?", "RLSVI {clears[rlsvi].mean:.0f} "
        "({clears[rlsvi].low:.0f}–{clears[rlsvi].high:.0f}) and LSVI {clears[lsvi].mean:.0f} "
        "({clears[lsvi].low:.0f}–{clears[lsvi].high:.0f}) rows per game if pieces may stick out, "
        "{top row[rlsvi].mean:.0f} and {top row[lsvi].mean:.0f} by the printed rule; LSPI's best "
        "policies here have {lspi[own]:.0f}, with a buffer {lspi[kept]:.0f}, and do not last."),
    "6.3.boltzmann": Headline(
        "Recommender: better than Boltzmann?", "Yes: the best temperature of the paper's grid has "
        "{best.mean:.0f} ({best.low:.0f}–{best.high:.0f}) likes more regret than RLSVI's "
        "{rlsvi:.0f} after 1200 customers."),
    "6.3.dithering": Headline(
        "Recommender: better than any dithering?", "In play yes, in what is learned no: ε-greedy "
        "LSVI, which plans as well, has {epsilon.mean:.0f} ({epsilon.low:.0f}–{epsilon.high:.0f}) "
        "likes more regret, {coded.mean:.0f} ({coded.low:.0f}–{coded.high:.0f}) if dislikes count "
        "−1, but its policy, played without the dithering, beats myopic play too."),
    "6.3.bandits": Headline(
        "Recommender: better than bandits?", "Yes, at the end: {late.mean:.2f} ({late.low:.2f}–"
        "{late.high:.2f}) likes per customer more than the linear bandit, which learns and does "
        "not plan."),
    "6.3.myopic": Headline(
        "Recommender: better than myopic play?", "Yes, at the end: {more[uniform].mean:.2f} "
        "({more[uniform].low:.2f}–{more[uniform].high:.2f}) likes per customer more than the best "
        "play that knows the model and does not plan."),
}

SUBJECTS = {  # the headlines as the start page has them in a minute: the first speaks for the rest
    "Long chains": ("6.1.learns", "6.1.polynomial", "6.1.generalization", "6.1.robust"),
    "Theorem 1 and its lemmas": ("5.theorem1", "5.lemma2"),
    "The conjecture": ("B.conjecture-meant",),
    "Tetris": ("6.2.better", "6.2.lspi"),
    "A recommendation engine": ("6.3.boltzmann", "6.3.dithering", "6.3.bandits", "6.3.myopic"),
}


class Threshold(NamedTuple):
    value: float
    reason: str
    late: bool = True  # chosen with the data at hand


THRESHOLDS = {
    "standard errors": Threshold(4.5, "a simulated mean against an exact one: wrong by chance 7 "
                                      "times in a million", late=False),
    "error rate": Threshold(1e-4, "how often chance may refute what is true, in all comparisons of "
                                  "one claim by samples", late=False),
    "error rate, Lemma 2": Threshold(1e-3, "the same for Lemma 2, whose 72 comparisons share it",
                                     late=False),
    "limiting power": Threshold(0.001, "by how much a power computed at large sizes may exceed its "
                                      "limit"),
    "multiple": Threshold(1, "the constant before √(H³SAT) that measured regret must stay below"),
    "AIC": Threshold(10, "the usual mark for strong evidence against a law", late=False),
    "rewards": Threshold(10, "a run on the chain has learned with its tenth reward, as the paper "
                             "has it", late=False),
    "learns": Threshold(0.9, "the share of runs that must learn for “it learns”; 45 of 50"),
    "consistently": Threshold(0.95, "the share of runs within twice the printed time for "
                                    "“consistently … roughly”"),
    "roughly": Threshold(2, "within a factor of two of a number that the paper rounds"),
    "essentially": Threshold(0.1, "the share of suboptimal episodes after the first reward that "
                                  "“essentially maintains” may leave"),
    "stable ρ": Threshold(0.95, "the share of runs that learn as long as learning is stable"),
    "not effective": Threshold(0.25, "the share of runs that may still learn at ρ near 1"),
    "same regret": Threshold(2, "“remarkably stable”: at most so many times the regret, or the "
                                "learning time, at the reference value"),
    "several orders": Threshold(2, "the least range, in powers of ten, for “several orders of "
                                   "magnitude”"),
    "level": Threshold(0.25, "medians of 50 runs this near one another, relatively, are level: "
                             "some two half-widths of their intervals"),
    "flattening": Threshold(0.5, "the last features cost at most this share of what the first did"),
    "pretty well": Threshold(0.25, "the typical relative miss that “fits pretty well” allows"),
    "similar scale": Threshold(10, "one order of magnitude"),
    "at least": Threshold(0.05, "the share of runs that may be below a number said to be the least",
                          late=False),
    "settled": Threshold(0.1, "a run is settled if the last suboptimal policy comes within this "
                              "share of it"),
    "some region": Threshold(0.02, "the least ρ* that makes a region: half the window of the "
                                   "figure"),
    "neither": Threshold(0.01, "a value this far from 0 and from 1 is neither"),
    "outside": Threshold(0.001, "Q* is outside a span if its distance is at least this share of "
                                "it"),
    "multiplies": Threshold(1.8, "“exponential”: at least so many times as much with each further "
                                 "state or period"),
    "fourfold": Threshold(3.9, "simulated means, for a growth that is proved to be fourfold"),
    "slowly": Threshold(1.3, "at most so many times as much with each further period"),
    "bounded": Threshold(0.2, "what stays bounded is at most this share of what grows, at the end"),
    "vanishes": Threshold(0.2, "at the end at most this share of what it was at first, and falling "
                               "all along"),
    "same power": Threshold(0.1, "a measured power this near to the one named"),
    "one constant": Threshold(0.5, "“long random”: at least this share of the uniform policy's "
                                   "regret over 1000 episodes"),
    "uncorrelated": Threshold(0.2, "a correlation up to this is not what “ensures” one"),
    "nearly": Threshold(0.9, "“nearly its full size at once”"),
    "LEARNED": Threshold(1000, "rows per game of a block: between the tens of a beginner and the "
                               "thousands of a player there is nothing"),
    "blocks": Threshold(8, "so many blocks after the first good one, at least, for a curve to be "
                           "asked whether it declines: the last four are compared with the best"),
    "collapse": Threshold(0.5, "the last 200 games score less than this share of what they would "
                               "without a decline"),
    "decline": Threshold(0.05, "the last 200 games are below this quantile of their simulated law "
                               "without a decline", late=False),
    "mostly": Threshold(0.5, "more than half", late=False),
    "many fewer": Threshold(2, "“many fewer games”: half as many or less"),
    "much better": Threshold(1.5, "“greatly outperforms”, “much better”: at least so many times "
                                  "the score"),
    "needed": Threshold(0.5, "dithering “does not learn” if its regret exceeds RLSVI's by this "
                             "share or more"),
    "beginning": Threshold(30, "“from the beginning on”: from this customer on, the first that the "
                               "table has"),
    "more likes": Threshold(0.5, "so many likes per customer more are another policy's"),
    "aims at": Threshold(0.99, "the share of the myopic reward that the bandit's target must earn"),
    "effective": Threshold(2, "“effective approximation to PSRL”: at most so many times its "
                              "regret"),
    "in effect": Threshold(3, "the same for “in part”, with the parameters that do best here"),
    "long plan": Threshold(12, "a lock of so many moves or more takes a long plan: the longest "
                               "that opens without perturbations"),
    "slightly": Threshold(1.1, "“differs only slightly”: by at most a tenth"),
}


def limit(name: str) -> float:
    return THRESHOLDS[name].value


# Sentences that could be true or false and have no entry: where, what, why.
NOT_JUDGED = (
    ("all", "motivation, definitions, plans, and descriptions of what was done",
     "nothing there is true or false; what a reading of them changes is said in the chapters"),
    ("Section 1", "model-based algorithms are intractable, KWIK regression is open, OCP is "
     "sensitive, C-PACE does not extrapolate, Dearden et al. is the only precursor",
     "statements about other papers"),
    ("Section 1", "UCRL2's bound, adapted to this setting, is Õ(√(H³S²AT))",
     "a theorem of another paper; the adaptation is not given"),
    ("Section 3", "the literature shows that dithering can have exponential regret; provably "
     "efficient schemes must direct exploration over several steps, and most are tabular",
     "a summary of the literature; the first part is shown here for the chain (3.regret)"),
    ("Section 4", "Thompson sampling explores efficiently; PSRL's regret scales with the dimension "
     "and does not generalize values without planning in an MDP", "theorems of other papers"),
    ("Section 5", "so far no algorithm with linear value functions has a regret bound",
     "a statement about the literature of 2016"),
    ("Section 5", "Σ K(s,a,h) log(T + K(s,a,h))", "a sum of the sizes in 5.bias-size, which are "
     "printed too small by H²; whether it bounds the error up to a constant all the same was not "
     "tried; 5.theorem1 has the term that takes its place"),
    ("Section 6", "what the experiments are said to show, in the summary before them",
     "judged where it is shown: 6.1.learns, 6.1.rho, 6.2.better, 6.2.sooner, 6.2.collapse, "
     "6.3.myopic; only 6.3.dithering has its sentence there"),
    ("Section 6.1", "individual basis functions are not otherwise informative",
     "no measure of information is named"),
    ("Section 6.1", "state of the art results in more practical problems",
     "neither problem has a state of the art named; the text disclaims it for Tetris"),
    ("Section 6.2", "far superior linear features for Tetris are well known",
     "no source and no score is named; scores of three other players are in chapter 6c"),
    ("Section 6.3", "to learn in fewer episodes than there are states, generalization is "
     "crucial", "no agent without generalization was run on the engine"),
    ("Section 7", "linear value functions have reproduced the performance of deep ones on Atari",
     "a statement about another paper"),
    ("Section 6.2", "five seeds", "we have more; how many is said with each number"),
    ("Appendix C", "too small a σ resembles Thompson sampling's analyses and Theorem 1",
     "a resemblance (the effect itself: C.small-sigma)"),
    ("Appendix D", "a wider prior over the variance is more robust", "a belief; not run with a "
     "wrong σ"),
    ("Appendix D", "mini-Tetris is much more difficult", "no measure of difficulty is named"),
    ("Appendix F", "stochastic gradient descent in place of the batch", "not specified"),
    ("Appendix F", "V* and Q* of a discounted MDP do not depend on t", "a textbook fact"),
    ("Appendix G", "the four forms can be re-derived using only integration by parts",
     "about a proof that is not given; the coupling takes more (Strassen's theorem)"),
    ("all", "what the figures show", "the source that we have holds no pictures: every comparison "
     "is with the text"),
)
