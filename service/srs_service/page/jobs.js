// The list of jobs, kept fresh while one of them runs.

import { datasetsById, get, query } from "./api.js";
import { field, h, name, options, problem } from "./dom.js";
import { count, duration, ENDED, jobTitle, KIND, moment, number, STATUS } from "./text.js";

const FRESH_SECONDS = 3;

export const badge = (status) => {
  const [text, kind] = STATUS[status] ?? [status, ""];
  return h("span", { class: `badge ${kind}` }, text);
};

export async function jobsView() {
  const datasets = await datasetsById();
  const list = h("div");
  const more = h("div", { class: "foot" });
  const status = options(h("select"), [["", "All"], ...Object.entries(STATUS).slice(0, 6)
    .map(([value, [text]]) => [value, text])], "");
  const kind = options(h("select"), [["", "All"], ...Object.entries(KIND)], "");
  let limit = 25;
  let listed = null; // ids of the rows that are there
  let rows = [];
  let timer = null;
  let closed = false;

  async function refresh() {
    clearTimeout(timer);
    try {
      const page = await get(`/v1/jobs${query({ limit, status: status.value, kind: kind.value })}`);
      if (closed) return;
      show(page);
      if (page.items.some((job) => !ENDED.has(job.status))) {
        timer = setTimeout(() => (document.hidden ? wait() : refresh()), FRESH_SECONDS * 1000);
      }
    } catch (error) {
      listed = null;
      if (!closed) list.replaceChildren(problem(error, refresh));
    }
  }

  function wait() {
    document.addEventListener("visibilitychange", refresh, { once: true });
  }

  function show(page) {
    const ids = page.items.map((job) => job.id).join();
    if (ids !== listed || !ids) {
      listed = ids;
      rows = page.items.map((job) => new Row(job, datasets));
      list.replaceChildren(ids
        ? h("div", { class: "panel" }, h("ul", { class: "rows" }, rows.map((row) => row.node)))
        : empty(status.value || kind.value));
    }
    page.items.forEach((job, i) => rows[i].show(job));
    more.replaceChildren();
    if (page.next_cursor && limit < 200) {
      more.append(h("button", { class: "button", type: "button", on: { click: () => {
        limit = Math.min(limit + 50, 200);
        refresh();
      } } }, "Show more"));
    }
  }

  for (const select of [status, kind]) select.addEventListener("change", refresh);
  await refresh();
  const filters = h("div", { class: "tools" },
    h("div", { class: "some" }, field("Status", status)), h("div", { class: "some" }, field("Kind", kind)));
  return {
    title: "Jobs",
    node: h("div", {},
      h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, "Jobs")),
        h("div", { class: "actions" }, h("a", { class: "button first", href: "#/select" }, "New selection"))),
      filters, list, more),
    close: () => {
      closed = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", refresh);
    },
  };
}

// A row keeps its link while its figures change: a click or the focus is not lost.
class Row {
  constructor(job, datasets) {
    this.dataset = datasets.get(job.dataset_id)?.name ?? "deleted dataset";
    this.state = h("span");
    this.about = h("div", { class: "about" });
    this.node = h("li", {},
      h("div", { class: "title" }, h("a", { href: `#/jobs/${job.id}` }, name(jobTitle(job, datasets)))),
      this.state, this.about);
  }

  show(job) {
    const share = job.progress?.share;
    const running = job.status === "RUNNING" && typeof share === "number";
    this.state.replaceChildren(badge(job.status));
    this.about.replaceChildren(
      `${KIND[job.kind]} · `, name(this.dataset), ` · ${moment(job.created_at)}${said(job)}`,
      running ? h("progress", { value: share, max: 1, "aria-label": "Share done" }) : "");
  }
}

function said(job) {
  const { progress, summary } = job;
  if (job.status === "SUCCEEDED" && job.kind === "select") {
    return ` · ${count(summary.n_relevant, "feature")} found in ${duration(summary.seconds)}`;
  }
  if (job.status === "FAILED") return ` · ${job.error?.detail ?? ""}`;
  if (job.status === "RUNNING" && progress) {
    const found = progress.n_relevant === null ? "" : ` · ${number(progress.n_relevant)} found`;
    const left = progress.remaining_seconds;
    return found + (left === null ? "" : ` · about ${duration(left)} left`);
  }
  return "";
}

const empty = (filtered) => h("div", { class: "panel empty" },
  h("h2", {}, filtered ? "No such jobs" : "No jobs yet"),
  h("p", { class: "quiet" }, filtered ? "No job matches the filters above."
    : "A selection finds the features of a dataset that matter. Register a dataset, then start one."),
  !filtered && h("div", { class: "actions" },
    h("a", { class: "button first", href: "#/datasets/new" }, "Add a dataset"),
    h("a", { class: "button", href: "#/select" }, "New selection")));
