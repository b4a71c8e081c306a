// What the things to play with share: elements, sliders, readings, charts in SVG, and a clock.
globalThis.UI = (() => {
  "use strict";
  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes))
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value !== false) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  // Numbers as the book prints them: 1.5 × 10¹⁵, and a real minus sign.
  const number = (x, digits = 3) => (Math.abs(x) >= 1e5 || x !== 0 && Math.abs(x) < 1e-4
    ? x.toExponential(1).replace(/e\+?(-?)(\d+)/, (_, sign, power) =>
      ` × 10${sign && "⁻"}${[...power].map(d => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`)
    : String(Number(x.toPrecision(digits)))).replace("-", "−");

  const counted = (n, noun) => `${n} ${noun}${String(n) === "1" ? "" : "s"}`; // n as it is printed

  const button = (label, on) => el("button", { type: "button", click: on }, label);

  // A slider over some values; `show` says what one looks like. Its value can be read and set.
  function slider(label, values, value, on, show = x => number(x)) {
    const out = el("b"), place = x => values.reduce(
      (best, v, i) => Math.abs(v - x) < Math.abs(values[best] - x) ? i : best, 0);
    const input = el("input", { type: "range", min: 0, max: values.length - 1, step: 1,
                                "aria-label": label, input: () => { tell(); on(); } });
    const tell = () => {
      out.textContent = show(values[input.value]);
      input.setAttribute("aria-valuetext", out.textContent);
    };
    input.value = place(value);
    tell();
    return {
      node: el("label", { class: "slider" }, el("span", {}, label, out), input),
      get value() { return values[input.value]; },
      set value(x) { input.value = place(x); tell(); },
    };
  }
  const steps = (low, high, step) =>
    Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => Number((low + i * step).toFixed(9)));
  const powers = (low, high, per = 4) => steps(low, high, 1 / per).map(x => Number((10 ** x).toPrecision(2)));

  // A table of readings: a row for each name, a column for each heading.
  function readings(headings, rows) {
    const cells = {}, row = ([key, name, colour]) => el("tr", {},
      el("th", { scope: "row" }, ...(colour ? [el("i", { class: `swatch ${colour}` })] : []), name),
      ...headings.slice(1).map((_, i) => (cells[key] ??= [])[i] = el("td", { "data-reading": `${key} ${i}` })));
    const node = el("table", { class: "readings" },
      el("thead", {}, el("tr", {}, ...headings.map(text => text ? el("th", { scope: "col" }, text) : el("td")))),
      el("tbody", {}, ...rows.map(row)));
    return { node, set: (key, ...texts) => texts.forEach((text, i) => cells[key][i].textContent = text) };
  }

  const ticks = ([low, high], about = 5) => {
    const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough * 0.999);
    return steps(Math.ceil(low / step - 1e-9) * step, high, step).filter(x => x <= high + 1e-9 * step);
  };

  // Axes with labels; x and y are [low, high], `yshow` says what a tick looks like. What is drawn between is added by
  // the caller.
  function chart({ width, height, x, y, xlabel, ylabel, label, xticks = ticks(x), yticks = ticks(y, 4), yshow = number }) {
    const [left, right, top, bottom] = [54, 10, 10, 40];
    const X = v => left + (v - x[0]) / (x[1] - x[0]) * (width - left - right);
    const Y = v => height - bottom - (v - y[0]) / (y[1] - y[0]) * (height - top - bottom);
    const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
    for (const v of xticks) node.append(
      svg("line", { class: "grid", x1: X(v), x2: X(v), y1: top, y2: height - bottom }),
      svg("text", { x: X(v), y: height - bottom + 15, "text-anchor": "middle" }, number(v)));
    for (const v of yticks) node.append(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: Y(v), y2: Y(v) }),
      svg("text", { x: left - 5, y: Y(v) + 4, "text-anchor": "end" }, yshow(v)));
    node.append(
      svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, xlabel),
      svg("text", { transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, ylabel));
    const clamp = v => Math.max(top - 3, Math.min(height - bottom + 3, Y(v)));
    const points = pairs => pairs.map(([a, b]) => `${X(a).toFixed(1)},${clamp(b).toFixed(1)}`).join(" ");
    const add = (...nodes) => { node.append(...nodes); return nodes[0]; };
    return {
      node, X, Y, add,
      line: (pairs, colour) => add(svg("polyline", { class: `line ${colour}`, points: points(pairs) })),
      area: (pairs, colour, base = 0) => add(svg("polygon", { class: `area ${colour}`,
        points: points([[pairs[0][0], base], ...pairs, [pairs.at(-1)[0], base]]) })),
      dot: (a, b, colour) => add(svg("circle", { class: `dot ${colour}`, cx: X(a), cy: clamp(b), r: 4.5 })),
      text: (a, b, words, anchor = "start") =>
        add(svg("text", { class: "note", x: X(a), y: clamp(b), "text-anchor": anchor }, words)),
    };
  }

  // A button that plays and pauses: `tick` is told the seconds to make up for and those that have passed since
  // the last frame, which are more on a slow machine, and may stop it. Out of sight it waits.
  function clock(tick) {
    let on = false, inView = true, last, due;
    const node = button("Play", () => on ? stop() : start());
    node.classList.add("play");
    const sight = new IntersectionObserver(([seen]) => { inView = seen.isIntersecting; go(); });
    function go() {
      cancelAnimationFrame(due);
      last = performance.now();
      if (on && inView) due = requestAnimationFrame(frame);
    }
    function stop() { on = false; node.textContent = "Play"; sight.disconnect(); go(); }
    function start() {
      if (on) return;
      on = inView = true;
      node.textContent = "Pause";
      sight.observe(node.closest("[data-widget]"));
      go();
    }
    function frame(now) {
      const passed = Math.max(0, now - last) / 1000;
      last = now;
      tick(Math.min(0.1, passed), passed);
      if (on) due = requestAnimationFrame(frame);
    }
    return { node, start, stop, get on() { return on; } };
  }

  // Give every element with data-widget="name" to `build`, which returns how to draw it anew.
  function mount(name, title, build) {
    const one = root => {
      const [hint] = root.children;
      root.textContent = "";
      root.setAttribute("role", "group");
      root.setAttribute("aria-label", title);
      root.addEventListener("keydown", event => event.stopPropagation()); // the theme turns pages with arrow keys
      root.append(el("p", { class: "widget-title" }, title));
      if (hint) root.append(hint);
      const draw = build(root);
      let width = root.clientWidth;
      new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; draw(); } }).observe(root);
      draw();
      root.dataset.ready = "";
    };
    const all = () => document.querySelectorAll(`[data-widget="${name}"]:not([data-ready])`).forEach(one);
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
    else all();
  }
  const room = root => Math.max(280, Math.min(680, root.clientWidth - 26)); // how wide a drawing may be

  return { el, svg, calm, number, counted, button, slider, steps, powers, readings, chart, clock, mount, room };
})();
