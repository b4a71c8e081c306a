"""Algorithms 1 to 13 of Osband, Van Roy and Wen (2016) in plain NumPy: read this first.

One function is one algorithm, in the paper's order, symbols and lines, and can be read by itself.
Where the print has an error, the code does what is meant and a comment says so. The learners of
this library compute the same values from the same draws in far less time; tests compare both.

- ``Phi[h][s, a]`` is the row of K features of the pair (s, a) in period h; without a horizon it is
  ``phi(s)[a]``. An (H, S, A, K) array will do, and so will a list of arrays.
- The data of l episodes are the states s, an (l, H + 1) array, and the actions a and rewards r,
  (l, H) arrays; ``r[i, H - 1]`` is r_{i,H−1} + r_{iH}. Printed is i < L; i < l is meant.
- An environment has ``start(env_rng)``, which returns a state, and ``step(h, s, a, env_rng)``,
  which returns a reward, the next state and whether the episode is over.
- ``rng`` and ``env_rng`` are generators, the agent's and the environment's. An action is one draw.

>>> from rlsvi_core import chain, features
>>> mdp = chain(10)
>>> rng, env_rng = np.random.default_rng(1), np.random.default_rng(2)
>>> reward, theta = algorithm_2(mdp, features.tabular(mdp), 1.0, 0.1, 200, rng, env_rng)
>>> reward[-100:].mean() > 0.3  # the best policy earns 0.39
np.True_
"""

import numpy as np


def posterior(A, b, lam, sigma):
    """Return the mean θ̄ of the weights, and the triangular U with UᵀU = Σ⁻¹ (Algorithm 1, line 3).

    Printed are θ̄ = Σ Aᵀb / σ² and Σ = (AᵀA / σ² + λI)⁻¹. The QR factorization of the rows √λ I and
    A / σ has this U, and keeps digits that AᵀA would lose.
    """
    K = A.shape[1]
    Q, U = np.linalg.qr(np.vstack([np.sqrt(lam) * np.eye(K), A / sigma]))
    mean = np.linalg.solve(U, Q.T @ np.concatenate([np.zeros(K), b / sigma]))
    sign = np.sign(np.diag(U))  # U is unique once its diagonal is positive
    return mean, sign[:, None] * U


def greedy(q):
    """Return the uniform distribution on the actions of the largest value."""
    best = q == q.max()
    return best / best.sum()


# ------------------------------------------------------------------ Section 4: RLSVI


def algorithm_1(Phi, s, a, r, lam, sigma, rng):
    """Sample the weights θ̃_0, …, θ̃_{H−1} by randomized least-squares value iteration."""
    H, K = len(Phi), Phi[0].shape[-1]
    theta = np.zeros((H, K))
    if len(a) == 0:  # the paper's footnote: all weights are 0 before there are data
        return theta
    for h in reversed(range(H)):  # line 1
        A = Phi[h][s[:, h], a[:, h]]  # line 2
        b = r[:, h]
        if h < H - 1:
            b = b + (Phi[h + 1][s[:, h + 1]] @ theta[h + 1]).max(axis=1)
        mean, U = posterior(A, b, lam, sigma)  # line 3
        theta[h] = mean + np.linalg.solve(U, rng.standard_normal(K))  # line 4: U⁻¹z ~ N(0, Σ)
    return theta


def algorithm_2(env, Phi, lam, sigma, episodes, rng, env_rng):
    """Run RLSVI with greedy actions; return the reward of each episode and the last weights."""
    H = len(Phi)
    s = np.zeros((episodes, H + 1), int)
    a = np.zeros((episodes, H), int)
    r = np.zeros((episodes, H))
    for l in range(episodes):  # line 1
        theta = algorithm_1(Phi, s[:l], a[:l], r[:l], lam, sigma, rng)  # line 2
        s[l, 0] = env.start(env_rng)  # line 3
        for h in range(H):  # line 4
            q = Phi[h][s[l, h]] @ theta[h]
            a[l, h] = rng.choice(len(q), p=greedy(q))  # line 5
            r[l, h], s[l, h + 1], _ = env.step(h, s[l, h], a[l, h], env_rng)  # line 6, in the end 8
    return r.sum(axis=1), theta


# ------------------------------------------------------------------ Appendix A: LSVI


def algorithm_3(Phi, s, a, r, lam):
    """Compute the weights θ_0, …, θ_{H−1} by least-squares value iteration."""
    H, K = len(Phi), Phi[0].shape[-1]
    theta = np.zeros((H, K))  # line 1: nothing follows period H − 1
    if len(a) == 0:
        return theta
    for h in reversed(range(H)):  # line 2
        A = Phi[h][s[:, h], a[:, h]]  # line 3
        b = r[:, h]
        if h < H - 1:  # θ̃ is printed, of which LSVI has none: θ is meant
            b = b + (Phi[h + 1][s[:, h + 1]] @ theta[h + 1]).max(axis=1)
        theta[h], _ = posterior(A, b, lam, sigma=1.0)  # line 4: (AᵀA + λI)⁻¹ Aᵀb
    return theta


def algorithm_4(env, Phi, lam, eta, episodes, rng, env_rng):
    """Run LSVI with Boltzmann exploration; return the rewards and the last weights."""
    H = len(Phi)
    s = np.zeros((episodes, H + 1), int)
    a = np.zeros((episodes, H), int)
    r = np.zeros((episodes, H))
    for l in range(episodes):  # line 1
        theta = algorithm_3(Phi, s[:l], a[:l], r[:l], lam)  # line 2
        s[l, 0] = env.start(env_rng)  # line 3
        for h in range(H):  # line 4
            q = Phi[h][s[l, h]] @ theta[h]
            p = np.exp((q - q.max()) / eta)  # line 5: an expectation is printed, exp is meant
            a[l, h] = rng.choice(len(q), p=p / p.sum())
            r[l, h], s[l, h + 1], _ = env.step(h, s[l, h], a[l, h], env_rng)  # line 6, and r_lH
    return r.sum(axis=1), theta


def algorithm_5(env, Phi, lam, epsilon, episodes, rng, env_rng):
    """Run LSVI with ε-greedy exploration; return the rewards and the last weights."""
    H = len(Phi)
    s = np.zeros((episodes, H + 1), int)
    a = np.zeros((episodes, H), int)
    r = np.zeros((episodes, H))
    for l in range(episodes):  # line 1
        theta = algorithm_3(Phi, s[:l], a[:l], r[:l], lam)  # line 2
        s[l, 0] = env.start(env_rng)  # line 3
        for h in range(H):  # line 4
            q = Phi[h][s[l, h]] @ theta[h]
            p = epsilon / len(q) + (1 - epsilon) * greedy(q)  # lines 5 to 10, in one draw
            a[l, h] = rng.choice(len(q), p=p)
            r[l, h], s[l, h + 1], _ = env.step(h, s[l, h], a[l, h], env_rng)  # line 11, and r_lH
    return r.sum(axis=1), theta


# ------------------------------------------------------------------ Appendix C: the chain


def algorithm_6(Q, K, rng):
    """Generate a random coherent basis, an (H, S, A, K) array, from Q*, an (H, S, A) array."""
    HSA = Q.size
    Psi = rng.standard_normal((HSA, K))  # line 1
    Psi[:, 0] = 1  # line 2
    Psi[:, 1] = Q.ravel()  # lines 3 and 4
    W = rng.standard_normal((HSA, K))  # line 6
    W[:, 0] = 1  # line 7
    W_P = Psi @ np.linalg.lstsq(Psi, W)[0]  # lines 5 and 8: Ψ (ΨᵀΨ)⁻¹ Ψᵀ W
    W_P *= HSA / np.linalg.norm(W_P, axis=0)  # line 9
    return W_P.reshape(*Q.shape, K)  # lines 10 and 11


# ------------------------------------------------------------------ Appendix D: Tetris


def algorithm_7(phi, data, theta_before, lam, sigma, gamma, rng):
    """Sample the weights θ̃_l of stationary RLSVI from transitions (s, a, r, s').

    A next state s' that is terminal is None.
    """
    if not data:
        return theta_before
    A = np.array([phi(s)[a] for s, a, r, s_next in data])  # line 1
    V = [  # "s_i is terminal" is printed, where no action is taken: s_{i+1} is meant
        0.0 if s_next is None else (phi(s_next) @ theta_before).max() for s, a, r, s_next in data
    ]
    b = np.array([r for s, a, r, s_next in data]) + gamma * np.array(V)
    mean, U = posterior(A, b, lam, sigma)  # line 2
    return mean + np.linalg.solve(U, rng.standard_normal(len(mean)))  # line 3


def algorithm_8(env, phi, K, lam, sigma, gamma, episodes, rng, env_rng):
    """Run stationary RLSVI with greedy actions; return the rewards and the last weights."""
    theta = np.zeros(K)  # line 1
    data = []
    reward = np.zeros(episodes)
    for l in range(episodes):  # line 2
        theta = algorithm_7(phi, data, theta, lam, sigma, gamma, rng)  # line 3
        s, over, t = env.start(env_rng), False, 0  # line 4
        while not over:  # line 5
            q = phi(s) @ theta
            a = rng.choice(len(q), p=greedy(q))  # line 7
            r, s_next, over = env.step(t, s, a, env_rng)  # line 8
            terminal = over and over != "cut"  # a state that only the clock cuts off has a value
            data.append((s, a, r, None if terminal else s_next))  # lines 9 to 11
            reward[l] += r
            s, t = s_next, t + 1  # line 6 is printed before a_t, of an s_t that nobody has seen
    return reward, theta


# ------------------------------------------------------------------ Appendix E: recommendations


def algorithm_9(sample_instance, algorithms, rng, instances=100):
    """Return the average regret Δ̂(0), …, Δ̂(L − 1) of each algorithm on random instances.

    An instance has the ``optimal_value`` of an episode. An algorithm is a pair: a function of
    (env, rng, env_rng) that returns L rewards, and how many times it is run on each instance.
    """
    regret = {name: [] for name in algorithms}
    for _ in range(instances):  # line 1
        env = sample_instance(rng)  # line 2
        for name, (run, times) in algorithms.items():  # lines 3 to 8
            regret[name] += [env.optimal_value - run(env, *rng.spawn(2)) for _ in range(times)]
    return {name: np.mean(regret[name], axis=0) for name in algorithms}  # line 10


def algorithm_10(env, N, J, episodes, rng, env_rng):
    """Run the Bernoulli bandit; return the likes of each customer, and the counts α and β."""
    alpha, beta = np.ones(N), np.ones(N)  # line 1 (the lines have no numbers in print)
    likes = np.zeros(episodes)
    for l in range(episodes):  # line 2
        p = rng.beta(alpha, beta)  # line 3
        x = env.start(env_rng)
        for h, n in enumerate(np.argsort(-p)[:J]):  # lines 4 to 6
            r, x, _ = env.step(h, x, n, env_rng)
            alpha[n] += r  # lines 7 and 8: she likes it
            beta[n] += 1 - r  # lines 9 and 10: she does not
            likes[l] += r
    return likes, alpha, beta


def algorithm_11(Phi, s, a, r, lam, sigma, rng):
    """Sample weights θ̂_0, …, θ̂_{H−1} that predict the next reward alone."""
    H, K = len(Phi), Phi[0].shape[-1]
    theta = np.zeros((H, K))  # line 1
    if len(a) == 0:
        return theta
    for h in reversed(range(H)):  # line 2
        A = Phi[h][s[:, h], a[:, h]]  # line 3
        b = r[:, h]
        mean, U = posterior(A, b, lam, sigma)  # line 4: λσ² is printed in the mean, λ is meant
        theta[h] = mean + np.linalg.solve(U, rng.standard_normal(K))  # line 5
    return theta


def algorithm_12(env, Phi, lam, sigma, episodes, rng, env_rng):
    """Run the linear contextual bandit; return the rewards and the last weights."""
    H = len(Phi)
    s = np.zeros((episodes, H + 1), int)
    a = np.zeros((episodes, H), int)
    r = np.zeros((episodes, H))
    for l in range(episodes):  # line 1
        theta = algorithm_11(Phi, s[:l], a[:l], r[:l], lam, sigma, rng)  # line 2
        s[l, 0] = env.start(env_rng)  # line 3
        for h in range(H):  # line 4
            q = Phi[h][s[l, h]] @ theta[h]
            a[l, h] = rng.choice(len(q), p=greedy(q))  # line 5
            r[l, h], s[l, h + 1], _ = env.step(h, s[l, h], a[l, h], env_rng)  # line 6, and r_lH
    return r.sum(axis=1), theta


# ------------------------------------------------------------------ Appendix F: extensions


def incremental_rlsvi(env, Phi, lam, sigma, nu, episodes, rng, env_rng):
    """Run the incremental RLSVI of appendix F.1, which has no number, with the step sizes nu(l)."""
    H, K = len(Phi), Phi[0].shape[-1]
    theta = np.zeros((H, K))
    precision = np.array([lam * np.eye(K) for _ in range(H)])  # Σ⁻¹
    y = np.zeros((H, K))
    reward = np.zeros(episodes)
    for l in range(episodes):
        for h in reversed(range(H)):
            U = np.linalg.cholesky(precision[h]).T
            mean = np.linalg.solve(precision[h], y[h])  # Σ⁻¹y is printed, Σy is meant
            theta[h] = mean + np.linalg.solve(U, rng.standard_normal(K))
        s = env.start(env_rng)
        for h in range(H):
            q = Phi[h][s] @ theta[h]
            a = rng.choice(len(q), p=greedy(q))
            r, s_next, _ = env.step(h, s, a, env_rng)
            row = Phi[h][s, a]
            b = r  # in the last period r_{l,H−1} + r_{lH}, as in Algorithm 1
            if h < H - 1:
                b = r + (Phi[h + 1][s_next] @ theta[h + 1]).max()
            precision[h] = (1 - nu(l)) * precision[h] + np.outer(row, row) / sigma**2
            y[h] = (1 - nu(l)) * y[h] + row * b / sigma**2
            reward[l] += r
            s = s_next
    return reward, theta


def algorithm_13(Phi, x, a, r, theta, w, lam, sigma, gamma, rng):
    """Return the next weights θ̃_{t+1} and perturbation w_{t+1} of continual RLSVI.

    Phi is (S, A, K). The states x_0, …, x_{t+1} are one more than the actions and the rewards.
    """
    A = Phi[x[:-1], a]  # line 1
    b = r + gamma * (Phi[x[1:]] @ theta).max(axis=1)
    mean, U = posterior(A, b, lam, sigma)  # line 2
    noise = np.linalg.solve(U, rng.standard_normal(len(mean)))
    w = gamma * w + np.sqrt(1 - gamma**2) * noise  # line 3: printed with γ and √(1−γ²) exchanged
    return mean + w, w  # line 4


def continual_rlsvi(env, Phi, lam, sigma, gamma, steps, rng, env_rng):
    """Run continual RLSVI with greedy actions; return each step's reward and the last weights."""
    theta, w = np.zeros((2, Phi.shape[-1]))
    x = np.zeros(steps + 1, int)
    a = np.zeros(steps, int)
    r = np.zeros(steps)
    x[0] = env.start(env_rng)
    for t in range(steps):
        if t > 0:
            theta, w = algorithm_13(Phi, x[: t + 1], a[:t], r[:t], theta, w, lam, sigma, gamma, rng)
        q = Phi[x[t]] @ theta
        a[t] = rng.choice(len(q), p=greedy(q))
        r[t], x[t + 1], _ = env.step(t, x[t], a[t], env_rng)
    return r, theta
