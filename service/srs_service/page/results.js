// What came of a job that is done: figures, plots, tables, downloads.

import { get, query } from "./api.js";
import { bars, evidenceFigure, figure, foundCurve } from "./charts.js";
import { card, h, loading, name, problem } from "./dom.js";
import { effectsPart, scanPart } from "./effects.js";
import { cautionsPart, directionMeaning, groundsPart } from "./grounds.js";
import { conditionsPart, pairsPart } from "./pairs.js";
import { ANALYSIS_COLUMNS, FEATURE_COLUMNS, PagedTable, tableLinks } from "./table.js";
import { bytes, count, duration, number, probability, VERDICT } from "./text.js";

const TOP = 15; // bars of a plot
const MOST_SETS = 100; // rows; all are in the JSON and in the report
const VERDICTS = [["RELEVANT", "Relevant features"], ["UNDECIDED", "Undecided features"],
  ["IRRELEVANT", "Irrelevant features"], ["", "All features"]];
// -- selections -----------------------------------------------------------------------------

export function selectionPart(job) {
  const { summary } = job;
  const plots = h("div", {}, loading("Drawing…"));
  const places = { top: h("div"), features: h("div"), together: h("div"), grounds: h("div") };
  const none = !summary.n_relevant;
  const table = new PagedTable(`/v1/jobs/${job.id}/features`, FEATURE_COLUMNS, "q_value", "Features",
    none ? [...VERDICTS].reverse() : VERDICTS);
  drawSelection(job, plots, places);
  return h("div", {}, places.top,
    h("dl", { class: "cards" },
      card("Relevant features", number(summary.n_relevant), `of ${number(total(summary.verdicts))}`),
      card("Trees", number(summary.n_trees), `${number(summary.n_passes)} passes`),
      card("Time", duration(summary.seconds)), card("Memory", bytes(summary.peak_mem), "at most")),
    h("p", { class: "quiet" }, `Ended: ${summary.stop_reason}.`),
    none && h("div", { class: "notice wait" }, h("p", {}, "No feature passed at this false discovery rate. The " +
      "undecided features come nearest: more samples or a longer run may decide them.")),
    h("section", { class: "panel", "aria-labelledby": "features-title" },
      h("h2", { id: "features-title" }, "Features"), table.node, places.features),
    places.together, plots, places.grounds, downloads(job, `/v1/jobs/${job.id}/features`, "result.json"));
}

const total = (verdicts) => Object.values(verdicts).reduce((a, b) => a + b, 0);

async function drawSelection(job, plots, places) {
  try {
    const result = await get(`/v1/jobs/${job.id}/result`);
    const { outcome, data } = result;
    const put = (place, ...parts) => place.replaceChildren(...parts.filter(Boolean));
    put(places.top, cautionsPart(result));
    put(places.features, outcome.relevant.some((row) => row.direction) && directionMeaning(result));
    put(places.together, effectsPart(job, result), pairsPart(job, result), conditionsPart(result), scanPart(result));
    put(places.grounds, groundsPart(result));
    const best = [...outcome.relevant].sort((a, b) => b.importance - a.importance).slice(0, TOP)
      .map((f) => ({ name: f.name, value: f.importance }));
    const panel = (...content) => h("section", { class: "panel" }, ...content);
    const kinds = Object.entries(outcome.evidence ?? {});
    plots.className = "plots";
    plots.replaceChildren(...[
      best.length && panel(h("h2", {}, "Most important"), figure("Importance of the relevant features",
        bars(best, `Importance: ${best.map((b) => `${b.name} ${number(b.value)}`).join(", ")}`))),
      outcome.history?.length && panel(h("h2", {}, "How they were found"),
        figure("Features found against trees", foundCurve(outcome.history))),
      ...kinds.map(([kind, histogram]) => panel(h("h2", {}, "Features against probes"),
        ...evidenceFigure(kind, histogram))),
      outcome.sets && panel(h("h2", {}, "Feature sets"), setsTable(outcome.sets.rows)),
      outcome.prediction && panel(h("h2", {}, "Held-out samples"), prediction(outcome.prediction, data.target_kind)),
    ].filter(Boolean));
  } catch (error) {
    plots.replaceChildren(problem(error, () => drawSelection(job, plots, places)));
  }
}

function setsTable(rows) {
  const best = [...rows].sort((a, b) => a.q_value - b.q_value).slice(0, MOST_SETS);
  const head = (text, isNumber) => h("th", { scope: "col", class: isNumber ? "num" : null }, text);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: feature sets" },
    h("table", {}, h("caption", { class: "unseen" }, "Feature sets, the most certain first"),
      h("thead", {}, h("tr", {}, head("Set"), head("Verdict"), head("q-value", true), head("Relevant members", true))),
      h("tbody", {}, best.map((row) => h("tr", {}, h("th", { scope: "row" }, name(row.set)),
        h("td", {}, VERDICT[row.verdict] ?? row.verdict), h("td", { class: "num" }, probability(row.q_value)),
        h("td", { class: "num" }, `${number(row.n_relevant)} of ${number(row.n_features)}`))))));
}

// Share of pairs of samples whose scores have the order of their values; censored times are lower bounds.
function concordance(rows) {
  let right = 0, pairs = 0;
  const value = (row) => row.rate ?? row.level ?? row.truth;
  for (const a of rows.filter((row) => row.event !== false)) {
    for (const b of rows) {
      if (!(value(b) > value(a) || (value(b) === value(a) && b.event === false))) continue;
      const gap = (b.prediction - a.prediction) * ("event" in a ? -1 : 1);
      pairs += 1;
      right += gap > 0 ? 1 : gap === 0 ? 0.5 : 0;
    }
  }
  return pairs ? right / pairs : NaN;
}

function prediction(rows, kind) {
  if (["ordinal", "count", "survival"].includes(kind)) {
    return h("p", {}, `Concordance ${number(Number(concordance(rows).toPrecision(3)))} on ${count(rows.length, "held-out sample")} ` +
      "(0.5 is chance).");
  }
  const words = rows.some((row) => typeof row.truth === "string");
  if (!words) {
    const off = Math.sqrt(rows.reduce((s, r) => s + (r.truth - r.prediction) ** 2, 0) / rows.length);
    return h("p", {}, `${count(rows.length, "sample")} predicted, off by ${number(off)} (root mean square).`);
  }
  const right = rows.filter((row) => row.truth === row.prediction).length;
  return h("p", {}, `${number(right)} of ${count(rows.length, "held-out sample")} predicted correctly ` +
    `(${Math.round((100 * right) / rows.length)} %).`);
}

// -- explanations ---------------------------------------------------------------------------

export function explanationPart(job) {
  const sections = job.summary.analyses.map((analysis) => analysisPart(job, analysis));
  return h("div", {},
    h("dl", { class: "cards" }, card("Features explained", number(job.summary.n_features)),
      card("Analyses", number(job.summary.analyses.length)), card("Time", duration(job.summary.seconds))),
    h("div", { class: "plots" }, sections), downloads(job, null, "explain.json"));
}

function analysisPart(job, analysis) {
  const path = `/v1/jobs/${job.id}/analyses/${analysis}`;
  const plot = h("div", {}, loading("Drawing…"));
  const table = h("details", { on: { toggle: () => {
    if (table.children.length < 2) table.append(new PagedTable(path, ANALYSIS_COLUMNS, "-value", analysis).node);
  } } }, h("summary", {}, "Table"));
  get(path + query({ sort: "-value", limit: TOP })).then((page) => {
    const rows = page.items.filter((r) => r.value !== null)
      .map((r) => ({ name: r.part ? `${r.feature} · ${r.part}` : r.feature, value: r.value, error: r.error }));
    plot.replaceChildren(rows.length ? figure("The largest values", bars(rows, `${analysis}, the largest values`))
      : h("p", { class: "quiet" }, "It found no values."));
  }).catch((error) => plot.replaceChildren(problem(error)));
  return h("section", { class: "panel", "aria-labelledby": `analysis-${analysis}` },
    h("h2", { id: `analysis-${analysis}` }, analysis), plot,
    table,
    h("div", { class: "actions" }, tableLinks(path)));
}

// -- ingests --------------------------------------------------------------------------------

export function ingestPart(job) {
  const { summary } = job;
  return h("div", {},
    h("dl", { class: "cards" }, card("Features", number(summary.n_features)), card("Samples", number(summary.n_samples)),
      card("Size", bytes(summary.n_bytes))),
    h("section", { class: "panel" }, h("h2", {}, "The dataset is ready"),
      h("dl", { class: "facts" },
        (summary.targets ?? []).map((t) => [h("dt", {}, "Target"), h("dd", {}, name(t.name), ` (${t.kind})`)]),
        (summary.notices ?? []).map((text) => [h("dt", {}, "Notice"), h("dd", {}, text)])),
      h("div", { class: "actions" },
        h("a", { class: "button first", href: `#/select?dataset=${job.dataset_id}` }, "Select features"))));
}

// -- downloads ------------------------------------------------------------------------------

function downloads(job, tablePath, file) {
  const here = `/v1/jobs/${job.id}`;
  return h("section", { class: "panel", "aria-labelledby": "downloads-title" },
    h("h2", { id: "downloads-title" }, "Downloads"),
    h("div", { class: "actions" },
      h("a", { class: "button first", href: `${here}/report`, target: "_blank", rel: "noopener" }, "Report",
        h("span", { class: "unseen" }, " (opens a new page)")),
      tablePath && tableLinks(tablePath),
      h("a", { class: "button", href: `${here}/result`, download: file }, "JSON")));
}
