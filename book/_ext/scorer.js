// How much a search result counts, in Sphinx's own terms (html_search_scorer): what explains a word comes before what is
// named by it, so a chapter before its module in the API reference, and the word in a heading before the word in a text.
var Scorer = {
  score: ([docname, , , , score]) => score - (docname.startsWith("book/api/") ? 100 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
