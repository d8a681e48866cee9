// How large effects are, and all features each by itself: forest, profiles, Manhattan, quantiles, volcano.

import { h, name, svg } from "./dom.js";
import { figure } from "./charts.js";
import { PagedTable, tableLinks } from "./table.js";
import { count, number, probability } from "./text.js";

const MOST_BARS = 20, MOST_PROFILES = 8, MOST_NAMES = 10, FEW = 10;
const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const sized = (v) => (v >= 1e5 ? v.toExponential(1) : number(v));
const signed = (v) => (v === null || v === undefined ? "–" : `${v < 0 ? "−" : ""}${sized(Math.abs(v))}`);
const interval = (row, key = "") => {
  const [value, low, high] = key ? [row[key], row[`${key}_low`], row[`${key}_high`]] : [row.estimate, row.low, row.high];
  if (value === null || value === undefined) return "–";
  return `${signed(value)} (${low === null ? "−∞" : signed(low)} to ${high === null ? "∞" : signed(high)})`;
};
const fill = (text, row, data) => text.replace("{group}", row.group ?? "a class").replace("{target}", data.target);

export function effectsPart(job, { data, outcome }) {
  const rows = outcome.effects ?? [];
  if (!rows.length) return null;
  const { measure } = outcome;
  const order = new Map([...outcome.relevant].sort((a, b) => a.q_value - b.q_value || b.importance - a.importance)
    .map((row, at) => [row.feature_id, at]));
  const sorted = [...rows].sort((a, b) => order.get(a.feature_id) - order.get(b.feature_id));
  const groups = new Set(rows.map((row) => row.group));
  const columns = [["name", "Feature", name]];
  if (groups.size > 1) columns.push(["group", "Class", (v) => name(v ?? "")]);
  if (rows.some((row) => row.effect_allele)) columns.push(["effect_allele", "Allele", (v) => name(v ?? "–")]);
  const show = (key) => (_, row) => interval(row, key);
  columns.push(["estimate", measure.measure, show(""), true], ["per", "Per", (v) => v ?? "–"],
    ["p_value", "p-value", probability, true]);
  if (rows.some((row) => row.auc !== null)) columns.push(["auc", "AUC", show("auc"), true]);
  if (rows.some((row) => row.frequency)) columns.push(["frequency", "Frequency", number, true]);
  const table = new PagedTable(`/v1/jobs/${job.id}/effects`, columns, "p_value", "Effects");
  table.bar.hidden = rows.length <= FEW;
  const steps = [...new Set(rows.map((row) => row.per).filter(Boolean))].map((s) => `one ${s}`).join(" or ");
  const said = fill(measure.meaning, groups.size > 1 ? { group: "a class" } : rows[0], data)
    .replace("{step}", `${steps || "one unit"} of a feature`);
  const drawn = sorted.filter((row) => row.estimate !== null).slice(0, MOST_BARS);
  return h("section", { class: "panel", "aria-labelledby": "effects-title" },
    h("h2", { id: "effects-title" }, "How large the effects are"),
    h("p", {}, `${measure.measure.charAt(0).toUpperCase()}${measure.measure.slice(1)}: `, name(said),
      ", with an interval of 95 % confidence.", measure.adjusted.length ? ` Adjusted for ${measure.adjusted.join(", ")}.` : ""),
    drawn.length ? figure(`The ${drawn.length} most certain features`, forest(drawn, measure, groups.size > 1)) : null,
    h("div", { class: "small-plots" }, profiles(sorted, outcome, data)),
    table.node,
    h("div", { class: "actions" }, tableLinks(`/v1/jobs/${job.id}/effects`)));
}

function forest(rows, measure, many) {
  const W = 620, left = 170, right = 170, step = 24, floor = rows.length * step + 6;
  const of = (v) => (measure.is_ratio ? Math.log(Math.max(v, 1e-300)) : v);
  const ends = rows.flatMap((row) => [row.low, row.high]).filter((v) => v !== null && v !== 0).map(of);
  const sizes = rows.map((row) => Math.abs(of(row.estimate))).sort((a, b) => a - b);
  const usual = Math.max(sizes[Math.floor(sizes.length / 2)], measure.is_ratio ? 0.1 : 1e-300);
  const reach = Math.min(3 * Math.max(sizes[sizes.length - 1], usual), 6 * usual); // one far out must not hide the others
  const low = Math.max(Math.min(0, ...ends), -reach), high = Math.min(Math.max(0, ...ends), reach);
  const across = (v) => left + ((Math.min(Math.max(v, low), high) - low) / (high - low)) * (W - left - right);
  const title = `${measure.measure}${measure.is_ratio ? " (log scale)" : ""}`;
  const ticks = (measure.is_ratio ? [0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100] : [low, 0, high])
    .filter((t) => of(t) >= low && of(t) <= high);
  const label = (row) => row.name + (row.effect_allele ? ` (${row.effect_allele})` : "") + (many ? `, ${row.group}` : "");
  return svg("svg", { viewBox: `0 0 ${W} ${floor + 40}`, role: "img",
    "aria-label": `${title}: ${rows.map((row) => `${label(row)} ${interval(row)}`).join("; ")}` },
  ticks.map((t) => [svg("line", { class: "grid", x1: across(of(t)), x2: across(of(t)), y1: 2, y2: floor }),
    svg("text", { x: across(of(t)), y: floor + 15, "text-anchor": "middle" }, signed(t))]),
  svg("line", { class: "null-line", x1: across(0), x2: across(0), y1: 2, y2: floor }),
  rows.map((row, at) => {
    const y = at * step + 14;
    const a = across(row.low === null ? -Infinity : of(row.low)), b = across(row.high === null ? Infinity : of(row.high));
    return [svg("text", { class: "name", x: left - 8, y: y + 4, "text-anchor": "end" }, shorten(label(row), 20)),
      svg("path", { class: "whisker", d: `M${a},${y}H${b}M${a},${y - 4}v8M${b},${y - 4}v8` }),
      Math.abs(of(row.estimate)) <= reach && svg("rect", { class: "bar", x: across(of(row.estimate)) - 4.5, y: y - 4.5,
        width: 9, height: 9 }),
      svg("text", { x: W - right + 10, y: y + 4 }, interval(row))];
  }),
  svg("text", { x: (left + W - right) / 2, y: floor + 34, "text-anchor": "middle" }, title));
}

// Of each feature the class that it tells most of.
function profiles(rows, outcome, data) {
  const best = new Map();
  for (const row of rows) {
    const now = best.get(row.feature_id);
    if (!now || Math.abs(row.beta ?? 0) > Math.abs(now.beta ?? 0)) best.set(row.feature_id, row);
  }
  return [...best.values()].slice(0, MOST_PROFILES).map((row) => {
    const levels = outcome.profiles.filter((one) => one.feature_id === row.feature_id && one.group === row.group);
    const what = fill(outcome.measure.outcome, row, data);
    return levels.length ? profile(levels, row, what, outcome.measure.is_share) : null;
  });
}

function profile(levels, row, what, isShare) {
  const W = 340, H = 216, left = 46, right = 8, top = 24, bottom = 72, floor = H - bottom;
  const ends = levels.flatMap((one) => [one.low, one.high, one.value]).filter((v) => v !== null);
  const spread = Math.max(...ends) - Math.min(...ends) || 1;
  const low = isShare ? 0 : Math.min(...ends) - 0.08 * spread;
  const high = isShare ? Math.min(1, Math.ceil(Math.max(...ends) * 10) / 10) : Math.max(...ends) + 0.08 * spread;
  const up = (v) => floor - ((v - low) / (high - low)) * (floor - top);
  const width = (W - left - right) / levels.length;
  const ticks = isShare ? [0, high / 2, high] : [Math.min(...ends), Math.max(...ends)];
  const known = levels.map((one, at) => [one, left + (at + 0.5) * width]).filter(([one]) => one.value !== null);
  const said = `${what} by ${row.name}: ` + levels.map((one) => `${one.level}: ${number(one.value)} (${one.n})`).join("; ");
  const lines = (one) => { const [a, b] = one.level.split(" to "); return b ? [a, `to ${b}`] : [a]; };
  const below = row.effect_allele ? `copies of ${row.effect_allele} of ${row.name}` : row.name;
  return h("figure", {}, h("div", { class: "plot" }, svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": said },
    svg("text", { x: 2, y: 12 }, shorten(what, 40)),
    ticks.map((t) => [svg("line", { class: "grid", x1: left, x2: W - right, y1: up(t), y2: up(t) }),
      svg("text", { x: left - 6, y: up(t) + 4, "text-anchor": "end" }, signed(t))]),
    svg("path", { class: "line faint", d: `M${known.map(([one, x]) => `${x},${up(one.value)}`).join("L")}` }),
    known.map(([one, x]) => [one.low === null ? null
      : svg("path", { class: "whisker", d: `M${x},${up(one.low)}V${up(one.high)}` }),
    svg("circle", { class: "dot", cx: x, cy: up(one.value), r: 4.5 })]),
    levels.map((one, at) => {
      const x = left + (at + 0.5) * width, said_ = lines(one);
      return [...said_.map((line, k) => svg("text", { x, y: floor + 15 + 13 * k, "text-anchor": "middle" },
        shorten(line, Math.max(4, Math.floor(width / 6.6))))),
      svg("text", { x, y: floor + 19 + 13 * said_.length, "text-anchor": "middle" }, width > 48 ? `n = ${number(one.n)}` : number(one.n))];
    }),
    svg("text", { class: "name", x: (left + W - right) / 2, y: H - 5, "text-anchor": "middle" }, shorten(below, 40)))));
}

// -- all features ---------------------------------------------------------------------------

export function scanPart({ outcome }) {
  const { scan } = outcome;
  if (!scan?.n_tested) return null;
  const lambda = scan.inflation === null ? "" : `; genomic inflation λ = ${scan.inflation.toFixed(3)}`;
  return h("section", { class: "panel", "aria-labelledby": "scan-title" },
    h("h2", { id: "scan-title" }, "All features, each by itself"),
    h("p", {}, `Each of ${count(scan.n_tested, "feature")} was tested alone. Rings are relevant features; those that ` +
      "matter only with others may be low."),
    scan.places && figure("p-values along the genome (Manhattan plot)", manhattan(scan)),
    h("div", { class: "plots" },
      figure(`Observed against expected p-values (QQ plot)${lambda}`, quantiles(scan)),
      scan.effects && figure("Effects against p-values (volcano plot)", volcano(scan))));
}

const TALL = 264, EDGE = { left: 46, right: 10, top: 14, bottom: 42 };

// A frame from [low, high] to [0, top]; `marks` are drawn by `content`.
function frame(W, label, [low, high], top, xTitle, xTicks, content) {
  const floor = TALL - EDGE.bottom;
  const across = (v) => EDGE.left + ((v - low) / (high - low)) * (W - EDGE.left - EDGE.right);
  const up = (v) => floor - (v / top) * (floor - EDGE.top);
  const step = [1, 2, 5, 10, 20, 50, 100].find((s) => top / s <= 6) ?? 200;
  const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, at) => at * step);
  return svg("svg", { viewBox: `0 0 ${W} ${TALL}`, role: "img", "aria-label": label },
    ticks.map((t) => [svg("line", { class: "grid", x1: EDGE.left, x2: W - EDGE.right, y1: up(t), y2: up(t) }),
      svg("text", { x: EDGE.left - 6, y: up(t) + 4, "text-anchor": "end" }, number(t))]),
    svg("line", { class: "axis", x1: EDGE.left, x2: W - EDGE.right, y1: floor, y2: floor }),
    xTicks.map(([v, text]) => svg("text", { x: across(v), y: floor + 16, "text-anchor": "middle" }, text)),
    svg("text", { x: (EDGE.left + W - EDGE.right) / 2, y: TALL - 6, "text-anchor": "middle" }, xTitle),
    svg("text", { x: 2, y: 10 }, "−log₁₀ p"), content(across, up));
}

const topOf = (spots) => Math.max(2, ...spots.map((s) => s.y)) * 1.12;

function rings(spots, across, up, W) {
  const taken = [];
  return spots.filter((s) => s.relevant).sort((a, b) => b.y - a.y).map((s, at) => {
    const x = across(s.x), y = up(s.y), text = shorten(s.name ?? "", 16), wide = 7.2 * text.length;
    const start = x + 7 + wide < W ? x + 7 : x - 7 - wide;
    const free = at < MOST_NAMES && taken.every(([a, b, w]) => Math.abs(y - b) > 12 || start > a + w || start + wide < a);
    if (free) taken.push([start, y, wide]);
    return [svg("circle", { class: "ring", cx: x, cy: y, r: 3.5 }, svg("title", {}, s.name ?? "")),
      free ? svg("text", { x: start, y: y + 4 }, text) : null];
  });
}

const dots = (spots, across, up, kind) => spots.filter((s) => !s.relevant)
  .map((s) => svg("circle", { class: `spot${kind(s)}`, cx: across(s.x).toFixed(1), cy: up(s.y).toFixed(1), r: 2 }));

function manhattan({ places, contigs }) {
  const W = 700;
  const high = contigs[contigs.length - 1].end;
  let last = -Infinity;
  const ticks = contigs.map((c) => [(c.start + c.end) / 2, shorten(c.name.replace(/^chr/, ""), 8)]).filter(([v, text]) => {
    const x = (v / high) * (W - EDGE.left - EDGE.right);
    if (x - last < 7 * text.length + 4) return false;
    last = x;
    return true;
  });
  const odd = (s) => (contigs.filter((c) => c.start <= s.x).length % 2 ? "" : " other");
  return frame(W, "p-values along the genome", [0, high], topOf(places), "chromosome", ticks, (across, up) =>
    [dots(places, across, up, odd), rings(places, across, up, W)]);
}

function volcano({ effects, measure, group, per }) {
  const W = 400;
  const reach = Math.max(...effects.map((s) => Math.abs(s.x))) * 1.1;
  const tick = Number((reach / 2).toPrecision(1));
  return frame(W, "Effects against p-values", [-reach, reach], topOf(effects), `${measure} of ${shorten(group, 20)} per ${per}`,
    [-tick, 0, tick].map((t) => [t, signed(t)]), (across, up) => [
      svg("line", { class: "null-line", x1: across(0), x2: across(0), y1: EDGE.top, y2: up(0) }),
      dots(effects, across, up, () => " other"), rings(effects, across, up, W)]);
}

function quantiles({ expected, observed, n_tested: n }) {
  const most = Math.max(1, ...expected) * 1.05, top = Math.max(1, ...observed, most) * 1.05;
  const ticks = Array.from({ length: Math.floor(most) + 1 }, (_, at) => [at, number(at)]);
  return frame(400, `Observed against expected p-values of ${count(n, "feature")}`, [0, most], top, "expected −log₁₀ p", ticks,
    (across, up) => [svg("line", { class: "null-line", x1: across(0), y1: up(0), x2: across(most), y2: up(most) }),
      expected.map((v, at) => svg("circle", { class: "spot", cx: across(v).toFixed(1), cy: up(observed[at]).toFixed(1), r: 2 }))]);
}
