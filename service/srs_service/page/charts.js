// Plots as SVG. Sizes are in the units of the picture; the style sheet has the colours.

import { h, svg } from "./dom.js";
import { evidenceTitle } from "./kinds.js";
import { number } from "./text.js";

const H = 264, LEFT = 52, RIGHT = 14, TOP = 26, BOTTOM = 40;
const phone = matchMedia("(max-width: 40rem)");

// Fewer units across on a phone: letters keep their size.
const width = () => (phone.matches ? 380 : 560);

function niceTicks(high, most = 5, wholeOnly = false) {
  const rough = Math.max(high / most, wholeOnly ? 1 : 1e-12);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let i = 0; i * step <= high * 1.0001; i += 1) ticks.push(i * step);
  return ticks;
}

// The frame of a plot with axes from 0; `y.place` maps values to 0..1 along the upward axis.
function frame(label, x, y, content) {
  const W = width();
  const across = (v) => LEFT + (W - LEFT - RIGHT) * (v / x.high);
  const up = (v) => H - BOTTOM - (H - TOP - BOTTOM) * (y.place ? y.place(v) : v / y.high);
  const xTicks = niceTicks(x.high, W / 95, x.whole);
  const yTicks = y.ticks ?? niceTicks(y.high, 4, y.whole);
  return svg(
    "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label },
    yTicks.map((t) => [
      svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: up(t), y2: up(t) }),
      svg("text", { x: LEFT - 7, y: up(t) + 4, "text-anchor": "end" }, number(t)),
    ]),
    svg("text", { x: 2, y: 12 }, y.title),
    svg("line", { class: "axis", x1: LEFT, x2: W - RIGHT, y1: H - BOTTOM, y2: H - BOTTOM }),
    xTicks.map((t) =>
      svg("text", { x: across(t), y: H - BOTTOM + 17, "text-anchor": "middle" }, number(t))),
    svg("text", { x: (LEFT + W - RIGHT) / 2, y: H - 5, "text-anchor": "middle" }, x.title),
    content(across, up),
  );
}

// Features found against trees: a value holds until the next look.
export function foundCurve(points) {
  const shown = points.length ? points : [{ n_trees: 0, n_relevant: 0 }];
  const last = shown[shown.length - 1];
  const x = { high: Math.max(last.n_trees, 1), title: "trees", whole: true };
  const most = Math.max(...shown.map((p) => p.n_relevant), 1);
  const y = { high: most * 1.08, title: "features found", whole: true };
  const label = `Features found against trees: ${number(last.n_relevant)} after ` +
    `${number(last.n_trees)} trees.`;
  return frame(label, x, y, (across, up) => {
    let path = `M${across(0)},${up(0)}`;
    for (const p of shown) path += `H${across(p.n_trees).toFixed(1)}V${up(p.n_relevant).toFixed(1)}`;
    return [
      svg("path", { class: "under", d: `${path}V${up(0)}Z` }),
      svg("path", { class: "line", d: path }),
      svg("circle", { class: "dot", cx: across(last.n_trees), cy: up(last.n_relevant), r: 4 }),
    ];
  });
}

// Evidence of features (bars) against that of their probes (an outlined step line), log counts.
function evidencePlot(kind, histogram) {
  const { edges, features, probes, n_probes: nProbes } = histogram;
  const perFeature = probes.map((n) => n / Math.max(nProbes, 1));
  const top = Math.max(...features, ...perFeature, 1);
  const ticks = [0];
  for (let t = 1; t <= top; t *= 10) ticks.push(t);
  const place = (v) => Math.log1p(v) / Math.log1p(top) / 1.04;
  const last = Math.max(features.findLastIndex((n) => n > 0), probes.findLastIndex((n) => n > 0), 0);
  const x = { high: edges[last + 1], title: `evidence: ${kind}` };
  const beyond = features.reduce((n, f, i) => (perFeature.slice(i).some((p) => p > 0) ? n : n + f), 0);
  const label = `Evidence "${kind}" of features against probes, counts on a log scale. ` +
    `${number(beyond)} features lie beyond all probes.`;
  return frame(label, x, { high: top, title: "features (log scale)", ticks, place }, (across, up) => {
    const bars = features.slice(0, last + 1).map((n, i) => n > 0 && svg("rect", {
      class: "bar", x: across(edges[i]) + 0.5, y: up(n),
      width: Math.max(across(edges[i + 1]) - across(edges[i]) - 1, 1), height: up(0) - up(n),
    }));
    let path = `M${across(edges[0])},${up(0)}`;
    perFeature.slice(0, last + 1).forEach((n, i) => {
      path += `V${up(n).toFixed(1)}H${across(edges[i + 1]).toFixed(1)}`;
    });
    return [bars, svg("path", { class: "probe", d: `${path}V${up(0)}` })];
  });
}

// The same with its legend and what the kind of evidence means.
export const evidenceFigure = (kind, histogram) => [
  h("ul", { class: "legend" }, h("li", { class: "of-features" }, "features"),
    h("li", { class: "of-probes" }, "probes (irrelevant by construction)")),
  figure(evidenceTitle(kind), evidencePlot(kind, histogram)),
];

const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Bars of {name, value, error}: whiskers are two errors.
export function bars(rows, label) {
  const W = width();
  const left = W * 0.32, right = 62, step = 24;
  const reach = Math.max(...rows.map((r) => Math.abs(r.value) + 2 * (r.error ?? 0)), 1e-12);
  const scale = (W - left - right) / reach;
  return svg(
    "svg", { viewBox: `0 0 ${W} ${rows.length * step + 4}`, role: "img", "aria-label": label },
    rows.map((row, i) => {
      const y = i * step + 2;
      const end = left + Math.max(row.value, 0) * scale;
      const far = row.error ? left + Math.max(row.value + 2 * row.error, 0) * scale : end;
      const near = left + Math.max(row.value - 2 * (row.error ?? 0), 0) * scale;
      return svg(
        "g", {}, svg("title", {}, `${row.name}: ${number(row.value)}`),
        svg("text", { class: "name", x: left - 8, y: y + 15, "text-anchor": "end" },
          shorten(row.name, Math.round(W / 26))),
        svg("rect", { class: "bar", x: left, y: y + 3, width: Math.max(end - left, 1), height: 15, rx: 2 }),
        row.error ? svg("path", { class: "whisker", d: `M${near},${y + 10.5}H${far}` }) : null,
        svg("text", { x: far + 6, y: y + 15 }, number(row.value)),
      );
    }),
  );
}

export const figure = (caption, ...drawn) =>
  h("figure", {}, h("figcaption", {}, caption), h("div", { class: "plot" }, ...drawn));
