"use strict";
// Sorts and filters the table of students, lets keys scroll what is too wide, and opens what is folded for printing.
// Without it the page is complete.
(() => {
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const table = document.querySelector("table.sortable");

  function value(row, column, numeric) {
    const cell = row.cells[column];
    return numeric ? Number.parseFloat(cell.textContent) : cell.textContent; // marks come after the number
  }

  function sort(header) {
    const column = header.cellIndex;
    const numeric = header.classList.contains("n");
    const before = header.getAttribute("aria-sort");
    const descending = before ? before === "ascending" : numeric;
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows, (row) => [value(row, column, numeric), row]);
    keyed.sort(([a], [b]) => {
      if (numeric && (Number.isNaN(a) || Number.isNaN(b))) return Number.isNaN(a) - Number.isNaN(b);
      const order = numeric ? a - b : collator.compare(a, b);
      return descending ? -order : order;
    });
    body.append(...keyed.map(([, row]) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  }

  function filter(words, said) {
    const wanted = words.normalize().toLowerCase().split(/\s+/).filter(Boolean);
    const rows = Array.from(table.tBodies[0].rows);
    const names = table.querySelector("thead .id") ? 2 : 1;
    let shown = 0;
    for (const row of rows) {
      const text = Array.from(row.cells).slice(0, names).map((cell) => cell.textContent).join(" ").normalize().toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    said.textContent = wanted.length ? `${shown} of ${rows.length} students` : "";
  }

  const buttons = [];
  if (table) {
    for (const header of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(header));
      header.append(button);
      buttons.push([button, header]);
    }
    const controls = document.createElement("p");
    const label = document.createElement("label");
    const input = document.createElement("input");
    const said = document.createElement("span");
    controls.className = "controls";
    input.type = "search";
    input.autocomplete = "off";
    said.setAttribute("role", "status");
    label.append("Filter by name ", input);
    controls.append(label, " ", said);
    input.addEventListener("input", () => filter(input.value, said));
    table.parentElement.before(controls);
  }

  const watch = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      const reachable = { tabindex: 0, role: "group", "aria-label": target.querySelector("caption").textContent };
      for (const [name, value] of Object.entries(reachable)) {
        if (target.scrollWidth > target.clientWidth) target.setAttribute(name, value);
        else target.removeAttribute(name);
      }
    }
  });
  for (const scroll of document.querySelectorAll(".scroll")) watch.observe(scroll);

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details:not([open], .passers *, .top *)"));
    for (const details of opened) details.open = true;
    for (const [button, header] of buttons) header.replaceChildren(...button.childNodes); // or only page 1 has a head
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    for (const [button, header] of buttons) {
      button.append(...header.childNodes);
      header.append(button);
    }
  });
})();
