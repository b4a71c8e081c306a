// What opens a fold is named by what it opens, for readers who listen: the extensions call every one "Toggle hidden
// content". A link to what is folded opens it, and a link in the title of a fold is followed, not taken for the button.
document.addEventListener("DOMContentLoaded", () => { // the buttons are made there, just before
  "use strict";
  for (const button of document.querySelectorAll(".toggle-button"))
    button.setAttribute("aria-label", button.parentElement.textContent.trim());
  for (const summary of document.querySelectorAll(".bd-article summary[aria-label]")) summary.removeAttribute("aria-label"); // its text says it
  for (const link of document.querySelectorAll(".toggle > .admonition-title a")) link.addEventListener("click", event => event.stopPropagation());
  const arrive = () => {
    const goal = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folds = document.querySelectorAll(".toggle-hidden");
    for (const fold of folds) if (goal && fold.contains(goal)) fold.querySelector(".toggle-button").click();
    if (goal?.closest(".toggle")) goal.scrollIntoView(); // what was folded above has moved it
  };
  addEventListener("hashchange", arrive);
  arrive();
});
