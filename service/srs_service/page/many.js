// What came of a selection for many targets: a row for each, its features when they are asked for.

import { get, query } from "./api.js";
import { card, h, loading, name, problem } from "./dom.js";
import { FEATURE_COLUMNS, PagedTable, tableLinks } from "./table.js";
import { bytes, duration, number } from "./text.js";

const SHOWN = 5; // names of features in a row
const VERDICTS = [["RELEVANT", "Relevant features"], ["", "All features"]];

export function manyPart(job) {
  const { summary } = job;
  const here = `/v1/jobs/${job.id}`;
  const list = h("div", {}, loading("Loading…"));
  const chosen = h("div", { "aria-live": "polite" });
  showTargets(here, list, chosen);
  return h("div", {},
    h("dl", { class: "cards" },
      card("Targets", number(summary.n_targets), summary.n_failed ? `${number(summary.n_failed)} without a result` : ""),
      card("Relevant features", number(summary.n_relevant), "of one target or more"),
      card("Time", duration(summary.seconds)), card("Memory", bytes(summary.peak_mem), "at most")),
    h("section", { class: "panel", "aria-labelledby": "targets-title" },
      h("h2", { id: "targets-title" }, "Targets"), list),
    chosen,
    h("section", { class: "panel", "aria-labelledby": "downloads-title" },
      h("h2", { id: "downloads-title" }, "Downloads"),
      h("div", { class: "actions" },
        h("a", { class: "button first", href: `${here}/report`, target: "_blank", rel: "noopener" }, "Overview",
          h("span", { class: "unseen" }, " (opens a new page)")),
        tableLinks(`${here}/overview`),
        h("a", { class: "button", href: `${here}/result`, download: "targets.json" }, "JSON"))));
}

async function showTargets(here, list, chosen) {
  try {
    const { items } = await get(`${here}/targets`);
    const head = (text, isNumber) => h("th", { scope: "col", class: isNumber ? "num" : null }, text);
    list.replaceChildren(h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: targets" },
      h("table", {}, h("caption", { class: "unseen" }, "Targets"),
        h("thead", {}, h("tr", {}, head("Target"), head("Relevant", true), head("Samples", true), head("Features"),
          head("Report"))),
        h("tbody", {}, items.map((row) => targetRow(here, row, chosen))))));
  } catch (error) {
    list.replaceChildren(problem(error, () => showTargets(here, list, chosen)));
  }
}

function targetRow(here, row, chosen) {
  if (row.error !== null) {
    return h("tr", {}, h("th", { scope: "row" }, name(row.target)), h("td", { colspan: 4 }, name(row.error)));
  }
  const of = query({ target: row.target });
  const some = row.relevant.slice(0, SHOWN).join(", ") + (row.relevant.length > SHOWN ? ", …" : "");
  const show = h("button", { class: "button slim", type: "button",
    on: { click: () => chosen.replaceChildren(targetPart(here, row, of)) } }, name(row.target));
  return h("tr", {}, h("th", { scope: "row" }, show), h("td", { class: "num" }, number(row.n_relevant)),
    h("td", { class: "num" }, number(row.n_samples)), h("td", {}, name(some)),
    h("td", {}, h("a", { href: `${here}/report${of}`, target: "_blank", rel: "noopener" }, "Report",
      h("span", { class: "unseen" }, ` of ${row.target} (opens a new page)`))));
}

function targetPart(here, row, of) {
  const path = `${here}/features${of}`;
  const verdicts = row.n_relevant ? VERDICTS : [...VERDICTS].reverse();
  const table = new PagedTable(path, FEATURE_COLUMNS, "q_value", "Features of the target", verdicts);
  return h("section", { class: "panel", "aria-labelledby": "target-title" },
    h("h2", { id: "target-title" }, name(row.target)), table.node,
    h("div", { class: "actions" }, tableLinks(path),
      h("a", { class: "button", href: `${here}/result${of}`, download: "result.json" }, "JSON")));
}
