// A figure is a button that opens it large: by a click, a tap or Enter. It scrolls where it is larger
// than the window, and closes by its button, by Escape, and by a click or tap beside it.
(() => {
  "use strict";
  const make = (name, attributes) => {
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  };
  const dialog = make("dialog", { class: "zoomed", "aria-label": "Figure" });
  const close = make("button", { type: "button", class: "zoomed-close" });
  const sheet = make("div", { class: "zoomed-sheet", tabindex: 0, role: "region", "aria-label": "Figure, scrolls" });
  close.textContent = "Close";
  dialog.append(close, sheet);
  document.body.append(dialog);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", event => event.target === dialog && dialog.close()); // what is beside it
  dialog.addEventListener("keydown", event => event.key === "Escape" && dialog.close()); // the theme would keep it

  function open(image) {
    const large = image.cloneNode();
    // A pixel of the picture is one of the screen's. On a phone, which has three in a length, it is more.
    large.loading = "eager";
    large.style.width = `${image.getAttribute("width") / Math.min(2, Math.max(1, devicePixelRatio))}px`;
    sheet.replaceChildren(large);
    dialog.showModal();
    sheet.scrollTo(0, 0);
  }

  for (const image of document.querySelectorAll(".bd-article img")) {
    if (image.closest("a, button, .widget")) continue;
    const button = make("button", { type: "button", class: "zoom", "aria-haspopup": "dialog" });
    button.setAttribute("aria-label", `Enlarge: ${image.alt}`);
    image.replaceWith(button);
    button.append(image);
    button.addEventListener("click", () => open(image));
  }
})();
