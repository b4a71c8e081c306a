// How much a search result counts, in Sphinx's own terms (html_search_scorer): a section that is named as asked comes
// before other pages, and a chapter, which explains, before the API reference.
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
