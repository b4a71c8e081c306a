r"""The paper's thirteen algorithms, line by line, beside the code that does them.

A step is one printed line, or several that one piece of code does; ``printed`` says how many, so
that steps carry the paper's line numbers, and lines that only end a loop are counted but not shown.
(Algorithms 9 and 10 are printed without numbers; theirs are counted the same way.) The code is text
that stands in the source of the named function once, in the order of the lines; a test says so.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from rlsvi_core import VerbatimAgent
from rlsvi_core.agents import base, continual
from rlsvi_core.features import paper
from rlsvi_core.mdp import FiniteMDP

from .recommender import bandit
from .recommender import runs as recommender


class Step(NamedTuple):
    line: str  # what is printed, in the book's symbols
    function: Callable[..., Any] | None = None  # None: no code of its own, and the line says why
    code: str = ""
    printed: int = 1


END = Step("end")
ESTIMATE, PROBLEM, FIT = (
    VerbatimAgent._estimate, VerbatimAgent.regression_problem, VerbatimAgent.fit)
LEARN, ACT, LAW = base.LinearAgent.learn, VerbatimAgent.act, base.action_probabilities

_NOTHING = "np.zeros(in_targets.shape[1])"
_PERIODS = "for h in reversed(range(self.H or self.sweeps)):"
_ROWS = """A[i] = phi[:self.free]
            b[i] = r + self.gamma * (self._clipped(q.max()) if q.size else 0.0)"""
_MEAN = """posterior = GaussianPosterior(self.free, self.lam, sigma).add_rows(A, b)
        mean = posterior.mean"""
_SAMPLE = 'theta = posterior.sample(self.rng, unknown_variance=self.variance == "unknown")'
_POSTERIOR = (r"$\bar\theta_{lh} \leftarrow \frac1{\sigma^2}\Sigma_{lh}A^\top b$, "
              r"$\Sigma_{lh} \leftarrow (\frac1{\sigma^2}A^\top A + \lambda I)^{-1}$")
_OPENING = (Step(r"for $l = 0, 1, \dots$", LEARN, "for i in range(len(run.reward)):"),
            Step(r"fit the weights of the episode", LEARN, "self.plan()"),
            Step(r"observe $s_{l0}$", LEARN, "s, h, ended = env.start(rng), 0, False"))
_STEPS = Step(r"for $h = 0, \dots, H-1$", LEARN, "while not ended:")
_GREEDY = Step(r"$a_{lh} \in \argmax_\alpha (\Phi_h\theta_{lh})(s_{lh}, \alpha)$", ACT,
               "i = choose(q, epsilon, self.eta, np.empty(q.size), self.rng.random())")
_SEEN = Step(r"observe $r_{lh}$ and $s_{l,h+1}$", LEARN,
             "r, s_next, ended = checked_step(env.step(h, s, a, rng))")

ALGORITHMS: dict[int, tuple[Step, ...]] = {
    1: (  # Randomized least-squares value iteration
        Step(r"for $h = H-1, \dots, 1, 0$", ESTIMATE, _PERIODS),
        Step(r"$A_i \leftarrow \Phi_h(s_{ih}, a_{ih})$, $b_i \leftarrow r_{ih} +$ $\max_\alpha "
             r"(\Phi_{h+1}\tilde\theta_{l,h+1})(s_{i,h+1}, \alpha)$, at the end $r_{ih} + r_{iH}$",
             PROBLEM, _ROWS),
        Step(_POSTERIOR, FIT, _MEAN),
        Step(r"$\tilde\theta_{lh} \sim N(\bar\theta_{lh}, \Sigma_{lh})$", FIT, _SAMPLE), END),
    2: (  # RLSVI with greedy action
        *_OPENING, _STEPS, _GREEDY, _SEEN, END,
        Step(r"observe $r_{lH}$, which the last period's reward includes", FiniteMDP.step,
             "r + last_reward(self.model, s_next, rng) if over else r"), END),
    3: (  # Least-squares value iteration
        Step(r"$\theta_{lH} \leftarrow 0$, $\Phi_H \leftarrow 0$", ESTIMATE, _NOTHING),
        Step(r"for $h = H-1, \dots, 1, 0$", ESTIMATE, _PERIODS),
        Step(r"$A_i \leftarrow \Phi_h(s_{ih}, a_{ih})$, $b_i \leftarrow r_{ih} +$ $\max_\alpha "
             r"(\Phi_{h+1}\theta_{l,h+1})(s_{i,h+1}, \alpha)$ (printed with $\tilde\theta$), at "
             r"the end $r_{ih} + r_{iH}$", PROBLEM, _ROWS),
        Step(r"$\theta_{lh} \leftarrow (A^\top A + \lambda I)^{-1}A^\top b$, the posterior mean "
             r"for $\sigma = 1$", FIT, "theta = mean"), END),
    4: (  # LSVI with Boltzmann exploration
        *_OPENING, _STEPS,
        Step(r"$\mathbb P(a_{lh} = a) \propto \exp((\Phi_h\theta_{lh})(s_{lh}, a)/\eta)$ (printed "
             r"with an expectation)", LAW, "out[a] = math.exp((q[a] - top) / eta)"),
        _SEEN, END, END),
    5: (  # LSVI with ε-greedy exploration
        *_OPENING, _STEPS,
        Step(r"$\xi \sim \mathrm{Bernoulli}(\epsilon)$; if $\xi = 1$ a uniform action, else one "
             r"of $\argmax_\alpha (\Phi_h\theta_{lh})(s_{lh}, \alpha)$: one law", LAW,
             "out[a] = epsilon / A + (1.0 - epsilon) * out[a] / total", printed=6),
        _SEEN, END, END),
    6: (  # A random coherent basis
        Step(r"$\Psi \sim N(0, I)$, $HSA \times K$", paper.coherent,
             "Psi = rng.standard_normal((q.size, K))"),
        Step(r"$\Psi[\cdot, 1] \leftarrow 1$; stack $Q^*$; $\Psi[\cdot, 2] \leftarrow Q^*$",
             paper.coherent, "Psi[:, 0], Psi[:, 1] = 1.0, q", printed=3),
        Step(r"$P \leftarrow \Psi(\Psi^\top\Psi)^{-1}\Psi^\top$, by an orthonormal basis",
             paper._project_and_scale, "basis, out = _orthonormal_rows(Psi), np.zeros_like(W)"),
        Step(r"$W \sim N(0, I)$, $HSA \times K$", paper.coherent,
             "W = rng.standard_normal((q.size, K))"),
        Step(r"$W[\cdot, 1] \leftarrow 1$", paper.coherent, "W[:, 0] = 1.0"),
        Step(r"$W_P \leftarrow PW$", paper._project_and_scale, "x[i] += overlap * basis[j, i]"),
        Step(r"scale every column of $W_P$ to 2-norm $HSA$", paper._project_and_scale,
             "scale = norm / math.sqrt(_dot(x, x))"),
        Step(r"reshape, and return $\Phi_h$ for every $h$", paper.coherent,
             "return Phi.reshape(*Q.shape, K)", printed=2)),
    7: (  # Stationary RLSVI
        Step(r"$A_i \leftarrow \Phi(s_i, a_i)$, $b_i \leftarrow r_i +$ $\gamma\max_\alpha "
             r"(\Phi\tilde\theta^-)(s_{i+1}, \alpha)$, or $r_i$ if nothing follows", PROBLEM,
             _ROWS),
        Step(_POSTERIOR.replace("{lh}", "l"), FIT, _MEAN),
        Step(r"$\tilde\theta_l \sim N(\bar\theta_l, \Sigma_l)$", FIT, _SAMPLE)),
    8: (  # RLSVI with greedy action, without a horizon
        Step(r"$\theta^-_0 \leftarrow 0$, $t \leftarrow 0$", VerbatimAgent._allocate,
             "self.theta: Floats = np.zeros((self.H or 1, K + len(self.features.known)))"),
        *_OPENING,
        Step("repeat", LEARN, "while not ended:"),
        Step(r"$t \leftarrow t + 1$ (misprinted here: the clock advances after the step)"),
        Step(r"$a_t \in \argmax_\alpha (\Phi\tilde\theta)(s_t, \alpha)$", ACT, _GREEDY.code),
        Step(r"observe $r_t$ and $s_{t+1}$", LEARN, _SEEN.code),
        Step(r"if $s_{t+1}$ is terminal, nothing follows it; leave", LEARN,
             "self.observe(h, s, a, r, None if early else s_next)", printed=3), END, END),
    9: (  # The study of the recommendation engine
        Step(r"for $i = 1, \dots, 100$ (the seeds of the stored table)"),
        Step(r"sample an instance, $\gamma_{an} \sim N(0, c^2)$", recommender.learning_curve,
             "customers = instance(seed, N, J, c)"),
        Step(r"run each algorithm 10 or 100 times", recommender.learning_curve,
             "for k in range(runs):", printed=6), END,
        Step("average its regret", recommender.learning_curve,
             "regret += (customers.value - np.repeat(expected, episodes // len(expected))) "
             "/ runs")),
    10: (  # Bernoulli bandit
        Step(r"$\alpha_n \leftarrow \beta_n \leftarrow 1$ for every product $n$",
             bandit.BernoulliBandit.__init__,
             "self.liked, self.disliked = np.ones(self.N), np.ones(self.N)"),
        Step(r"for $l = 0, \dots, L-1$", bandit._serve, "for i in range(run.reward.shape[0]):"),
        Step(r"$\hat p_{ln} \sim \mathrm{beta}(\alpha_n, \beta_n)$", bandit._serve,
             "p[n] = agent_rng.beta(liked[n], disliked[n])"),
        Step(r"show the $J$ products with the largest $\hat p_{ln}$ in their order", bandit._serve,
             "order = np.argsort(-p)"),
        Step("for each product that is shown", bandit._serve, "for h in range(J):", printed=2),
        Step("if it is liked", bandit._serve, "if answer(beta, gamma, x, a, rng):"),
        Step(r"$\alpha_n \leftarrow \alpha_n + 1$", bandit._serve, " liked[a] += 1.0"),
        Step(r"else $\beta_n \leftarrow \beta_n + 1$", bandit._serve, "disliked[a] += 1.0",
             printed=2), END, END, END, END),
    11: (  # Randomized exploration in linear contextual bandits
        Step(r"$\hat\theta_{lH} \leftarrow 0$, $\Phi_H \leftarrow 0$", ESTIMATE, _NOTHING),
        Step(r"for $h = H-1, \dots, 1, 0$", ESTIMATE, _PERIODS),
        Step(r"$A_i \leftarrow \Phi_h(s_{ih}, a_{ih})$, $b_i \leftarrow r_{ih}$: Algorithm 1 with "
             r"$\gamma = 0$", PROBLEM, _ROWS),
        Step(_POSTERIOR + r" (the mean is printed with $\lambda\sigma^2$ for $\lambda$)", FIT,
             _MEAN),
        Step(r"$\hat\theta_{lh} \sim N(\bar\theta_{lh}, \Sigma_{lh})$", FIT, _SAMPLE), END),
    12: (  # Linear contextual bandit
        *_OPENING, _STEPS, _GREEDY, _SEEN, END, END),
    13: (  # Continual RLSVI
        Step(r"$A_\tau \leftarrow \Phi(s_\tau, a_\tau)$, $b_\tau \leftarrow r_\tau +$ $\gamma"
             r"\max_\alpha (\Phi\tilde\theta_t)(s_{\tau+1}, \alpha)$, as sums over states",
             continual._estimate, "x[k] += gamma * V * data.g[0, s, k]"),
        Step(_POSTERIOR.replace("{lh}", "{t+1}"), continual._estimate,
             "solve_transposed(U, x)\n    solve(U, x)"),
        Step(r"$w_{t+1} \sim N(\rho\, w_t, (1-\rho^2)\Sigma_{t+1})$ (printed with "
             r"$\rho = \sqrt{1-\gamma^2}$)", continual._estimate,
             "w[k] = rho * w[k] + math.sqrt(1.0 - rho * rho) * noise[k]"),
        Step(r"$\tilde\theta_{t+1} \leftarrow \bar\theta_{t+1} + w_{t+1}$", continual._estimate,
             "theta[k] = x[k] + w[k]"))}


def source(function: Callable[..., Any]) -> str:
    """The text of a function, compiled or not."""
    return inspect.getsource(getattr(function, "py_func", function))


def beside(*numbers: int) -> str:
    """The lines of some algorithms beside the code that does them, as Markdown tables."""
    return "\n".join(":::{div} algorithm-lines\n" + _table(one) + "\n:::\n" for one in numbers)


def _table(number: int) -> str:
    rows = [f"| Line | Algorithm {number} of the paper | The code |", "| --: | :-- | :-- |"]
    first = 1
    for step in ALGORITHMS[number]:
        last = first + step.printed - 1
        if step is not END:
            code = "<br>".join(f"`{line.strip()}`" for line in step.code.splitlines())
            where = f"{code}<br>in `{step.function.__qualname__}`" if step.function else "none"
            rows.append(f"| {first}{f'–{last}' * (last > first)} | {step.line} | {where} |")
        first = last + 1
    return "\n".join(rows)
