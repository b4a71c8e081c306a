// What opens a fold is named by what it opens, for readers who listen: the extensions call every one "Toggle hidden
// content".
document.addEventListener("DOMContentLoaded", () => { // the buttons are made there, just before
  "use strict";
  for (const button of document.querySelectorAll(".toggle-button"))
    button.setAttribute("aria-label", button.parentElement.textContent.trim());
  for (const summary of document.querySelectorAll(".bd-article summary[aria-label]")) summary.removeAttribute("aria-label"); // its text says it
});
