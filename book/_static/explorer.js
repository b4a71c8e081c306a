// Controls above the table of all claims: by verdict, by weight, by section, by kind of evidence, by word. A
// word of the name of its section or chapter finds a claim, too. The table itself is in the page; without
// this script it is simply all there. The choice is kept in the address, so it can be sent to someone.
(() => {
  "use strict";
  const table = document.getElementById("claims");
  const rows = [...table.tBodies[0].rows];
  const choices = new URLSearchParams(location.search);
  const form = document.createElement("form");
  form.className = "explorer";
  form.setAttribute("role", "search");
  const status = document.createElement("p");
  status.setAttribute("role", "status");

  const labelled = (text, control) => {
    const label = document.createElement("label");
    label.append(text, control);
    form.append(label);
    return control;
  };
  const selects = Object.entries({ verdict: "Verdict", weight: "Weight", section: "Section", evidence: "Evidence" })
    .map(([key, text]) => {
      const select = labelled(text, document.createElement("select"));
      select.name = key;
      const names = new Map(rows.map(({ dataset }) => [dataset[key], key === "section" ? dataset.name : dataset[key]]));
      select.append(new Option("all", ""), ...[...names].map(([value, name]) => new Option(name, value)));
      if (names.has(choices.get(key))) select.value = choices.get(key);
      return select;
    });
  const word = labelled("Word", document.createElement("input"));
  word.type = "search";
  word.name = "word";
  word.value = choices.get("word") ?? "";

  function filter() {
    const wanted = word.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = selects.some(s => s.value && s.value !== row.dataset[s.name])
        || ![row.textContent, row.dataset.name, row.dataset.chapter].some(text => text.toLowerCase().includes(wanted));
      shown += !row.hidden;
    }
    status.textContent = `${shown} of ${rows.length} claims`;
    const kept = [...new FormData(form)].filter(([, value]) => value);
    const query = kept.length ? "?" + new URLSearchParams(kept) : "";
    history.replaceState(null, "", location.pathname + query + location.hash);
  }

  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", filter);
  form.append(status);
  table.closest(".stored").before(form);
  filter();

  // Who is sent to a claim sees it, whatever is chosen.
  function show() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.hidden) return;
    for (const control of [...selects, word]) control.value = "";
    filter();
    target.scrollIntoView();
  }
  show();
  addEventListener("hashchange", show);
})();
