// A table that the service searches, sorts and cuts into pages.

import { extend, get } from "./api.js";
import { h, loading, name, problem, say } from "./dom.js";
import { direction, number, probability, VERDICT } from "./text.js";

const ROWS = 25;

// Columns: [key, title, how to show a value, whether it is a number]
export const FEATURE_COLUMNS = [
  ["name", "Feature", name], ["verdict", "Verdict", (v) => VERDICT[v] ?? v],
  ["q_value", "q-value", probability, true], ["p_value", "p-value", probability, true],
  ["stability", "Stability", (v) => (v === null || v === undefined ? "" : `${Math.round(100 * v)} %`), true],
  ["importance", "Importance", number, true], ["direction", "Direction", direction, true],
  ["found_by", "Found by", (v) => v ?? "–"], ["effect", "Effect", number, true], ["group", "Group", number, true], ["n_drawn", "Drawn", number, true], ["n_used", "Used", number, true],
];

export const ANALYSIS_COLUMNS = [
  ["feature", "Feature", name], ["part", "Part", (v) => name(v ?? "")], ["value", "Value", number, true],
  ["p_value", "p-value", probability, true], ["q_value", "q-value", probability, true],
];

// Plain links: the browser writes what arrives to disk, however large. The service names the file.
export const tableLinks = (path) => [["csv", "CSV"], ["parquet", "Parquet"]].map(([format, text]) =>
  h("a", { class: "button", href: extend(path, { format }) }, text));

export class PagedTable {
  // path: of the table; sort: the first order; filter: optional [value, text] pairs of verdicts
  constructor(path, columns, sort, caption, verdicts = null) {
    Object.assign(this, { path, columns, sort, caption, verdicts });
    this.search = "";
    this.verdict = verdicts?.[0][0] ?? "";
    this.cursors = [null]; // where each page so far starts
    this.page = 0;
    this.body = h("tbody");
    this.heads = columns.map(([key, title, , isNumber]) => h(
      "th", { scope: "col", class: isNumber ? "num" : null, "data-key": key },
      h("button", { type: "button", on: { click: () => this.sortBy(key) } }, title),
    ));
    this.count = h("p", { class: "quiet small" });
    this.before = h("button", { class: "button slim", type: "button", on: { click: () => this.turn(-1) } },
      "Previous");
    this.after = h("button", { class: "button slim", type: "button", on: { click: () => this.turn(1) } },
      "Next");
    this.state = h("div");
    this.bar = this.tools();
    this.node = h(
      "div", {}, this.bar, this.state,
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${caption}` },
        h("table", {}, h("caption", { class: "unseen" }, caption), h("thead", {}, h("tr", {}, this.heads)),
          this.body)),
      h("div", { class: "foot" }, this.count, h("div", { class: "actions" }, this.before, this.after)),
    );
    this.load();
  }

  tools() {
    let timer = null;
    const search = h("input", {
      type: "search", id: `${this.idFor()}-search`, placeholder: "Part of a name", maxlength: 200,
      on: { input: (event) => {
        clearTimeout(timer);
        timer = setTimeout(() => this.restart({ search: event.target.value.trim() }), 250);
      } },
    });
    const select = this.verdicts && h(
      "select", { id: `${this.idFor()}-verdict`,
        on: { change: (event) => this.restart({ verdict: event.target.value }) } },
      this.verdicts.map(([value, text]) => h("option", { value }, text)),
    );
    return h(
      "div", { class: "tools" },
      h("div", { class: "grow" }, h("label", { for: search.id }, "Search"), search),
      select && h("div", { class: "some" }, h("label", { for: select.id }, "Show"), select),
    );
  }

  idFor() {
    return `table-${this.caption.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  }

  sortBy(key) {
    this.restart({ sort: this.sort === key ? `-${key}` : key });
  }

  restart(change) {
    Object.assign(this, change, { page: 0, cursors: [null] });
    return this.load();
  }

  turn(by) {
    this.page += by;
    return this.load();
  }

  async load() {
    this.running?.abort();
    this.running = new AbortController();
    if (!this.body.children.length) this.state.replaceChildren(loading());
    const params = {
      sort: this.sort, search: this.search, verdict: this.verdict, limit: ROWS,
      cursor: this.cursors[this.page],
    };
    try {
      const found = await get(extend(this.path, params), { signal: this.running.signal });
      this.state.replaceChildren();
      this.show(found);
      this.showOrder(); // not before the rows are in this order
    } catch (error) {
      if (error.name !== "AbortError") this.state.replaceChildren(problem(error, () => this.load()));
    }
  }

  showOrder() {
    const key = this.sort.replace(/^-/, "");
    for (const head of this.heads) {
      if (head.dataset.key !== key) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", this.sort.startsWith("-") ? "descending" : "ascending");
    }
  }

  show(found) {
    this.cursors[this.page + 1] = found.next_cursor;
    this.body.replaceChildren(...found.items.map((row) => h("tr", {}, this.columns.map(
      ([key, , show, isNumber], at) => h(at ? "td" : "th", {
        scope: at ? null : "row", class: isNumber ? "num" : null,
      }, show(row[key], row)),
    ))));
    const first = this.page * ROWS;
    const text = found.n_total
      ? `${number(first + 1)} to ${number(first + found.items.length)} of ${number(found.n_total)}`
      : "Nothing matches.";
    this.count.textContent = text;
    this.before.disabled = this.page === 0;
    this.after.disabled = !found.next_cursor;
    say(`${this.caption}: ${text}`);
  }
}
