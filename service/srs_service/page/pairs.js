// Features that matter together, or only given others: tables and small plots.

import { h, name, svg } from "./dom.js";
import { PagedTable, tableLinks } from "./table.js";
import { count, number, probability } from "./text.js";

const MOST_PLOTS = 4;
const MOST_CONDITIONS = 50;
const FEW = 10; // rows that need no search
const KIND = {
  crossing: "opposite effects at the two ends of the partner",
  strengthening: "stronger at the upper end of the partner",
  weakening: "weaker at the upper end of the partner",
  joint: "only in combination, without a direction",
};

const signed = (value) => (value === null || value === undefined ? "–"
  : `${value < 0 ? "−" : "+"}${number(Math.abs(value))}`);

const SCORED = ["ordinal", "count", "survival"]; // trees learn score residuals of a model of these

const PAIR_COLUMNS = [
  ["name", "Feature", name], ["partner", "Partner", name], ["kind", "What the feature does", (v) => KIND[v] ?? v],
  ["p_value", "p-value", probability, true], ["q_value", "q-value", probability, true],
  ["low", "At the lower end", signed, true], ["high", "At the upper end", signed, true],
];

// What the mean target of a pair is.
const outcomeName = (data, pairs) => (data.labels.length
  ? `share of ${pairs[0]?.cells?.group ?? data.labels[data.labels.length - 1]}`
  : `${SCORED.includes(data.target_kind) ? "mean score residual" : "mean"} of ${data.target}`);

export function pairsPart(job, { data, outcome }) {
  const reason = (outcome.grounds.left_out ?? []).find((one) => one.kind === "pairs")?.reason;
  if (!outcome.pairs && !reason) return null; // a result of an earlier version
  if (data.n_features < 2) return null;
  const head = h("h2", { id: "pairs-title" }, "Features that matter together");
  const panel = (...content) => h("section", { class: "panel", "aria-labelledby": "pairs-title" }, head, ...content);
  if (!outcome.pairs) return panel(h("p", {}, `Pairs were not looked at: ${reason}`));
  const all = `All ${count((data.n_features * (data.n_features - 1)) / 2, "pair")} of features were looked at.`;
  if (!outcome.pairs.length) {
    return panel(h("p", {}, `${all} No pair was found in which what one feature means for the target depends on ` +
      "the other."));
  }
  const what = outcomeName(data, outcome.pairs ?? []);
  const drawn = outcome.pairs.filter((row) => typeof row.mean_low_low === "number").slice(0, MOST_PLOTS);
  const table = new PagedTable(`/v1/jobs/${job.id}/pairs`, PAIR_COLUMNS, "q_value", "Pairs");
  table.bar.hidden = outcome.pairs.length <= FEW; // nothing to search
  return panel(
    h("p", {}, `${all} What one feature means for the target depends on the other in ` +
      `${count(outcome.pairs.length, "pair")}.`),
    h("div", { class: "small-plots" }, drawn.map((row) => plot(row, what, data.labels.length > 0)),
      outcome.pairs.filter((row) => row.cells).slice(0, MOST_PLOTS).map((row) => cellPlot(row, data))),
    table.node,
    h("p", { class: "quiet small" }, "At the ends: difference that the upper half of the feature makes to the ",
      name(what), ", in the lower and in the upper half of the partner."),
    h("div", { class: "actions" }, tableLinks(`/v1/jobs/${job.id}/pairs`)));
}

export function conditionsPart({ outcome }) {
  const rows = outcome.conditions ?? [];
  if (!rows.length) return null;
  const head = (text, isNumber) => h("th", { scope: "col", class: isNumber ? "num" : null }, text);
  const given = (names) => names.map((one, at) => [at ? " and " : null, name(one)]);
  return h("section", { class: "panel", "aria-labelledby": "conditions-title" },
    h("h2", { id: "conditions-title" }, "Found only given others"),
    h("p", {}, "These features tell nothing of the target by themselves, nor with a single partner. Trees found " +
      "them after splits on others."),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: features found given others" },
      h("table", {}, h("caption", { class: "unseen" }, "Features found only given others"),
        h("thead", {}, h("tr", {}, head("Feature"), head("Given"), head("p-value", true))),
        h("tbody", {}, rows.slice(0, MOST_CONDITIONS).map((row) => h("tr", {}, h("th", { scope: "row" }, name(row.name)),
          h("td", {}, given(row.given)), h("td", { class: "num" }, probability(row.p_value))))))));
}

// -- one pair -------------------------------------------------------------------------------

const W = 340, H = 200, LEFT = 44, RIGHT = 104, TOP = 24, BOTTOM = 40, INDENT = 26;
const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Two lines from the lower to the upper half of the feature, one for each half of the partner.
function plot(row, what, isShare) {
  const lines = [["lower", row.mean_low_low, row.mean_high_low], ["upper", row.mean_low_high, row.mean_high_high]];
  const means = lines.flatMap(([, a, b]) => [a, b]);
  const spread = Math.max(...means) - Math.min(...means) || 1;
  const low = isShare ? 0 : Math.min(...means) - 0.15 * spread;
  const high = isShare ? 1 : Math.max(...means) + 0.15 * spread;
  const floor = H - BOTTOM, end = W - RIGHT, sides = [LEFT + INDENT, end - INDENT];
  const up = (v) => floor - ((v - low) / (high - low)) * (floor - TOP);
  const ticks = isShare ? [0, 0.5, 1] : [Math.min(...means), Math.max(...means)];
  const labels = apart(up(lines[0][2]), up(lines[1][2]), floor);
  const said = `${what}, from the lower to the upper half of ${row.name}: ` + lines.map(([half, a, b]) =>
    `from ${number(a)} to ${number(b)} in the ${half} half of ${row.partner}`).join("; ");
  return h("figure", {}, h("figcaption", {}, name(row.name), " with ", name(row.partner)),
    h("div", { class: "plot" }, svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": said },
      ticks.map((t) => [svg("line", { class: "grid", x1: LEFT, x2: end, y1: up(t), y2: up(t) }),
        svg("text", { x: LEFT - 6, y: up(t) + 4, "text-anchor": "end" }, number(t))]),
      svg("line", { class: "axis", x1: LEFT, x2: end, y1: floor, y2: floor }),
      svg("text", { x: 2, y: 12 }, shorten(what, 40)),
      ["lower half", "upper half"].map((half, at) =>
        svg("text", { x: sides[at], y: floor + 16, "text-anchor": "middle" }, half)),
      svg("text", { class: "name", x: (LEFT + end) / 2, y: H - 6, "text-anchor": "middle" }, shorten(row.name, 24)),
      lines.map(([half, a, b], at) => [
        svg("path", { class: at ? "line other" : "line", d: `M${sides[0]},${up(a)}L${sides[1]},${up(b)}` }),
        [a, b].map((v, k) => svg("circle", { class: at ? "dot other" : "dot", cx: sides[k], cy: up(v), r: 4 })),
        svg("text", { x: sides[1] + 9, y: labels[at] + 4 }, `${half} half of`),
        svg("text", { x: sides[1] + 9, y: labels[at] + 18 }, shorten(row.partner, 15)),
      ]))));
}

// The target by levels of both features: darker is more; below it the number of samples.
function cellPlot(row, data) {
  const { levels, partner_levels: others, values, counts, group } = row.cells;
  const known = values.flat().filter((v) => v !== null);
  if (!known.length) return null;
  const low = Math.min(...known), spread = Math.max(...known) - low || 1;
  const left = 104, top = 58, tall = 46, width = (W - left - 8) / others.length;
  const what = group === null ? `mean of ${data.target}` : `share of ${group}`;
  const cell = (a, b) => {
    const value = values[a][b], shade = value === null ? 0 : 0.08 + (0.8 * (value - low)) / spread;
    const x = left + b * width, y = top + a * tall, ink = shade > 0.6 ? "cell dark" : "cell";
    return [svg("rect", { class: "heat", x, y, width: width - 2, height: tall - 2, "fill-opacity": shade }),
      svg("text", { class: ink, x: x + width / 2, y: y + 20, "text-anchor": "middle" }, number(value)),
      svg("text", { class: ink, x: x + width / 2, y: y + 36, "text-anchor": "middle" }, `n = ${number(counts[a][b])}`)];
  };
  const said = `${what} by levels of ${row.name} and ${row.partner}`;
  return h("figure", {}, h("figcaption", {}, name(row.name), " with ", name(row.partner)),
    h("div", { class: "plot" }, svg("svg",
      { viewBox: `0 0 ${W} ${top + tall * levels.length + 8}`, role: "img", "aria-label": said },
      svg("text", { x: 2, y: 12 }, shorten(what, 40)),
      svg("text", { class: "name", x: (left + W - 8) / 2, y: 33, "text-anchor": "middle" }, shorten(row.partner, 28)),
      svg("text", { class: "name", x: left - 8, y: top - 4, "text-anchor": "end" }, shorten(row.name, 14)),
      others.map((text, b) => svg("text", { x: left + (b + 0.5) * width, y: top - 6, "text-anchor": "middle" },
        shorten(text, Math.floor(width / 6.6)))),
      levels.map((text, a) => [svg("text", { x: left - 8, y: top + a * tall + 27, "text-anchor": "end" }, shorten(text, 14)),
        others.map((_, b) => cell(a, b))]))));
}

// Heights of two labels that do not cover each other.
function apart(first, second, floor, least = 32) {
  const gap = Math.max(least - Math.abs(first - second), 0) / 2;
  const both = first > second ? [first + gap, second - gap] : [first - gap, second + gap];
  const over = Math.max(...both) - (floor - 12);
  return over > 0 ? both.map((y) => y - over) : both;
}
