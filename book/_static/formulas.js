// Once MathJax has typeset a page, a formula, table or code wider than its place is set smaller. Where that is not enough, the number of an equation
// goes above it, and what is still too wide scrolls and says so; on a phone the rows of such a table become cards,
// with the heads of their columns.
(() => {
  "use strict";
  const article = document.querySelector(".bd-article");
  if (!article) return; // the page of search results
  const inside = box => {
    const { paddingLeft, paddingRight } = getComputedStyle(box);
    return box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  };
  const formulas = () => [...article.querySelectorAll(".math")].filter(one => !one.closest("td")).map(node => {
    const math = node.querySelector("mjx-math"), place = node.closest("p, li, dd, div"), number = node.querySelector(".eqno");
    const width = box => box?.getBoundingClientRect().width ?? 0;
    const beside = () => number && !node.matches(".above") ? width(number) + parseFloat(getComputedStyle(node).columnGap) : 0;
    return { node, over: () => width(math) + beside() > inside(place) + 1 };
  });
  const others = () => [...article.querySelectorAll("table, pre")].map(node =>
    ({ node, over: () => node.scrollWidth > node.clientWidth + 1 }));
  let boxes; // known when MathJax has made them
  const phone = matchMedia("(max-width: 600px)");
  const deal = table => {
    const heads = [...table.tHead.rows[0].cells].map(head => head.textContent.trim());
    for (const { cells } of table.tBodies[0].rows) [...cells].forEach((cell, i) => { cell.dataset.head = heads[i]; });
    table.classList.replace("wide", "cards");
  };
  const mark = (boxes, name) => {
    const over = boxes.filter(box => box.over()); // all are read before any is changed
    over.forEach(({ node }) => node.classList.add(name));
    return over;
  };
  function fit() {
    for (const { node } of boxes) {
      node.classList.remove("wide", "above", "scrolls", "cards");
      node.removeAttribute("tabindex");
    }
    const over = mark(boxes, "wide");
    if (phone.matches) over.forEach(({ node }) => node.matches("table.table") && deal(node));
    mark(mark(over, "above"), "scrolls").forEach(({ node }) => { node.tabIndex = 0; });
  }
  let due;
  const soon = () => { cancelAnimationFrame(due); due = requestAnimationFrame(fit); }; // once for many that open
  const begin = () => {
    boxes = [...formulas(), ...others()];
    fit();
    article.classList.add("fitted"); // now it may be seen
    new ResizeObserver(soon).observe(article); // another window, a sidebar that goes, something folded that opens
  };
  const mathjax = document.querySelector("script[src*='mathjax/']"); // none where a page has no formula
  const typeset = () => MathJax.startup.promise.then(begin);
  if (!mathjax) begin();
  else if (MathJax.startup) typeset();
  else {
    mathjax.addEventListener("load", typeset);
    mathjax.addEventListener("error", begin);
  }
})();
