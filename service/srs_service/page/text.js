// Numbers, times and states for people.

const whole = new Intl.NumberFormat("en");

export const count = (n, noun) => `${whole.format(n)} ${noun}${n === 1 ? "" : "s"}`;

export function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return whole.format(value);
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(1);
  return Math.abs(value) >= 1000 ? whole.format(Math.round(value)) : String(Number(value.toPrecision(3)));
}

export function probability(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1e-300) return "<1e-300";
  return value < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(2)));
}

// How the target goes with a feature: an arrow and the strength.
export const direction = (value) => (value ? `${value > 0 ? "↑" : "↓"} ${Math.abs(value).toFixed(2)}` : "–");

export function bytes(n) {
  if (n === null || n === undefined) return "–";
  for (const [unit, size] of [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["KB", 1e3]]) {
    if (n >= size) return `${Number((n / size).toPrecision(3))} ${unit}`;
  }
  return `${n} bytes`;
}

// A large unit and, if there is any, a small one: 5 min, 5 min 3 s.
function two(s, large, largeName, small, smallName) {
  const rest = Math.floor((s % large) / small);
  return `${Math.floor(s / large)} ${largeName}` + (rest ? ` ${rest} ${smallName}` : "");
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 10) return `${Number(seconds.toPrecision(2))} s`;
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return two(s, 60, "min", 1, "s");
  if (s < 86400) return two(s, 3600, "h", 60, "min");
  return two(s, 86400, "d", 3600, "h");
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const moment = (text) => day.format(new Date(text));

export const STATUS = {
  QUEUED: ["Waiting", "wait"], RUNNING: ["Running", "busy"], CANCELLING: ["Cancelling", "wait"],
  SUCCEEDED: ["Done", "good"], FAILED: ["Failed", "bad"], CANCELLED: ["Cancelled", ""],
  PENDING: ["Being read", "busy"], READY: ["Ready", "good"],
};
export const ENDED = new Set(["SUCCEEDED", "FAILED", "CANCELLED"]);
export const KIND = { select: "Selection", explain: "Explanation", ingest: "Ingest" };
export const VERDICT = { RELEVANT: "Relevant", UNDECIDED: "Undecided", IRRELEVANT: "Irrelevant" };

export const jobTitle = (job, datasets) =>
  job.name || `${KIND[job.kind]} of ${datasets.get(job.dataset_id)?.name ?? "a dataset"}`;
