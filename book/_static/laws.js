// The normal and the beta law: densities, distribution functions, E(X − z)⁺, and how often two of them
// cross. Pure functions in double precision; rlsvi_core.optimism and rlsvi_study.lemmas.crossings have the
// same with certified digits, and tests/site/test_widgets.py compares.
globalThis.Laws = (() => {
  "use strict";
  const { PI, abs, exp, log, log1p, sqrt } = Math;

  // log Γ by Stirling's series, pushed up to where it is exact to rounding.
  function lgamma(x) {
    let shift = 0;
    for (; x < 12; x++) shift -= log(x);
    const y = 1 / (x * x);
    return shift + (x - 0.5) * log(x) - x + log(2 * PI) / 2
      + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
  }

  // erfc, relatively exact in the tail: a series near 0, a continued fraction further out.
  function erfc(x) {
    if (x < 0) return 2 - erfc(-x);
    if (x > 2) {
      let f = 0;
      for (let k = 100; k > 0; k--) f = k / 2 / (x + f);
      return exp(-x * x) / sqrt(PI) / (x + f);
    }
    let term = x, sum = x;
    for (let k = 1; abs(term) > 1e-17 * abs(sum); k++) { term *= -x * x / k; sum += term / (2 * k + 1); }
    return 1 - 2 / sqrt(PI) * sum;
  }

  // I_x(a, b), the regularized incomplete beta function, by Lentz's continued fraction. `rest` is 1 − x.
  function betainc(a, b, x, rest = 1 - x) {
    if (x <= 0) return 0;
    if (rest <= 0) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - betainc(b, a, rest, x);
    const safe = v => abs(v) < 1e-300 ? 1e-300 : v;
    let c = 1, d = 1 / safe(1 - (a + b) * x / (a + 1)), f = d;
    for (let m = 1; m < 2000; m++) {
      for (const t of [m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                       -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))]) {
        d = 1 / safe(1 + t * d);
        c = safe(1 + t / c);
        f *= c * d;
      }
      if (abs(c * d - 1) < 1e-16) break;
    }
    return exp(a * log(x) + b * log(rest) + lgamma(a + b) - lgamma(a) - lgamma(b)) * f / a;
  }

  const normal = (mean, variance) => {
    const sd = sqrt(variance), v = z => (z - mean) / sd;
    const pdf = z => exp(-v(z) * v(z) / 2) / sqrt(2 * PI) / sd;
    return { mean, sd, pdf, cdf: z => erfc(-v(z) / sqrt(2)) / 2,
             excess: z => sd * sd * pdf(z) + (mean - z) * erfc(v(z) / sqrt(2)) / 2 };
  };

  const beta = (a, b) => {
    const constant = lgamma(a + b) - lgamma(a) - lgamma(b), mean = a / (a + b);
    const tail = (a, b, x) => betainc(b, a, 1 - x, x);
    return { mean, sd: sqrt(mean * (1 - mean) / (a + b + 1)), cdf: x => betainc(a, b, x),
             pdf: x => x <= 0 || x >= 1 ? 0 : exp(constant + (a - 1) * log(x) + (b - 1) * log1p(-x)),
             excess: z => z <= 0 ? mean - z : z >= 1 ? 0 : mean * tail(a + 1, b, z) - z * tail(a, b, z) };
  };

  // Where f changes its sign from one of some places to the next; and the zero between two such places.
  const changes = (f, places) => places.slice(1).map((right, i) => [places[i], right])
    .filter(([left, right]) => f(left) > 0 !== f(right) > 0);
  const zero = f => ([low, high]) => {
    for (let i = 0, left = f(low) > 0; i < 64; i++) {
      const middle = (low + high) / 2;
      if (f(middle) > 0 === left) low = middle; else high = middle;
    }
    return (low + high) / 2;
  };

  // Where N(α/n, 1/n) and Beta(α, β), n = α + β, cross on (0, 1), as y = log x/(1 − x): `densities`, and
  // `functions`, `count` of them, both computed when asked for. u = log f_N − log f_B turns
  // at the roots of a cubic, D = F_N − F_B where the densities cross.
  function crossings(alpha, beta) {
    const n = alpha + beta, constant = lgamma(alpha) + lgamma(beta) - lgamma(n) + log(n / (2 * PI)) / 2;
    const logistic = y => 1 / (1 + exp(-y)), softplus = y => Math.max(y, 0) + log1p(exp(-abs(y)));
    const u = y => constant - n * (logistic(y) - alpha / n) ** 2 / 2
      + (alpha - 1) * softplus(-y) + (beta - 1) * softplus(y);
    const below = (a, b, y) => normal(a / n, 1 / n).cdf(logistic(y)) - betainc(a, b, logistic(y), logistic(-y));
    const D = y => y > 0 ? -below(beta, alpha, -y) : below(alpha, beta, y); // on the side where both are small
    const cubic = x => ((n * x - n - alpha) * x + 2 * alpha + beta - 2) * x + 1 - alpha;
    const root = sqrt(Math.max(0, (n + alpha) ** 2 - 3 * n * (2 * alpha + beta - 2)));
    const bends = [-1, 1].map(sign => (n + alpha + sign * root) / (3 * n)).filter(x => x > 0 && x < 1);
    const turns = changes(cubic, [0, ...bends, 1]).map(zero(cubic)).map(x => log(x) - log1p(-x));
    const densities = changes(u, [-1e7, ...turns, 1e7]).map(zero(u));
    const found = () => changes(D, [-1e7, ...densities, 1e7]);
    return { densities, get count() { return found().length; }, get functions() { return found().map(zero(D)); } };
  }

  return { lgamma, erfc, betainc, normal, beta, crossings };
})();
