// The search in this book, in Sphinx's own terms (html_search_scorer). A section that is named as asked comes before
// other pages, and a chapter, which explains, before the API reference.
var Scorer = {
  score: ([docname, , anchor, description, score]) => score + (anchor && description === null ? 10 : 0)
    - (docname.startsWith("book/api/") ? 100 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

// Greek letters are found by their names, as site.py puts them into the index.
var splitQuery = query => {
  const names = { α: "alpha", β: "beta", γ: "gamma", ε: "epsilon", θ: "theta", κ: "kappa", λ: "lambda", ρ: "rho", σ: "sigma", φ: "phi" };
  return query.replace(/[α-ω]/g, sign => ` ${names[sign] ?? sign} `).split(/[^\p{Letter}\p{Number}_]+/u).filter(term => term);
};
