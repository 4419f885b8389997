"use strict";
// Searches all pages, opens the list of headings where there is room for it, and lets keys scroll what is too wide.
// Without it the pages are complete.
(() => {
  const up = document.body.dataset.up;
  const most = 20; // results

  function make(name, properties, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // What was found, the best first: all words in the heading, in page and heading, then in the text.
  function search(words) {
    const scored = FOUND.map((part) => {
      const [, page, title, text] = part.map((each) => each.toLowerCase());
      const within = [title, `${page} ${title}`, `${page} ${title} ${text}`];
      return [within.findIndex((some) => words.every((word) => some.includes(word))), part];
    });
    return scored.filter(([score]) => score >= 0).sort(([a], [b]) => a - b).map(([, part]) => part);
  }

  function result([place, page, title, text], words) {
    const at = Math.max(0, text.lastIndexOf(" ", text.toLowerCase().indexOf(words[0]) - 50));
    const link = make("a", { href: up + place }, page === title ? title : `${page}: ${title}`);
    return make("li", {}, link, make("p", { className: "soft" }, `${at ? "… " : ""}${text.slice(at, at + 160)} …`));
  }

  const found = make("div", { className: "found" });
  const said = make("span", { className: "soft" });
  const input = make("input", { type: "search", autocomplete: "off" });
  said.setAttribute("role", "status");
  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const parts = words.length && input.value.trim().length > 1 ? search(words) : [];
    const list = make("ol", {}, ...parts.slice(0, most).map((part) => result(part, words)));
    said.textContent = words.length ? `${parts.length} found` : "";
    found.replaceChildren(...(parts.length ? [list] : []));
  }
  input.addEventListener("input", () => {
    if (window.searching) return void window.searching.then(show);
    window.searching = new Promise((done) => {
      document.head.append(make("script", { src: `${up}search.js`, onload: done }));
    });
    window.searching.then(show);
  });
  const form = make("form", {}, make("label", {}, "Search ", input), " ", said);
  form.setAttribute("role", "search");
  form.addEventListener("submit", (event) => event.preventDefault());
  document.querySelector(".banner").append(form, found);

  const contents = document.querySelector(".contents");
  if (contents && matchMedia("(min-width: 64rem)").matches) contents.open = true;

  const watch = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const scroll of document.querySelectorAll(".scroll, .formulas")) watch.observe(scroll);

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("main details:not([open], .folded)"));
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
})();
