// One job: how far it is, what may be done with it, and what came of it.

import { datasetsById, get, post, remove } from "./api.js";
import { evidenceFigure, figure, foundCurve } from "./charts.js";
import { confirm } from "./confirm.js";
import { card, h, name, problem, say, sentence } from "./dom.js";
import { badge } from "./jobs.js";
import { kinds } from "./kinds.js";
import { manyPart } from "./many.js";
import { explanationPart, ingestPart, selectionPart } from "./results.js";
import { bytes, count, duration, ENDED, jobTitle, KIND, moment, number, STATUS } from "./text.js";

export async function jobView([id]) {
  const [job, datasets] = await Promise.all([get(`/v1/jobs/${id}`), datasetsById(), kinds()]);
  const view = new JobView(job, datasets);
  return { title: jobTitle(job, datasets), node: view.node, close: () => view.close() };
}

class JobView {
  constructor(job, datasets) {
    this.job = job;
    this.path = `/v1/jobs/${job.id}`;
    this.points = []; // of the curve: trees and features found
    this.evidence = job.progress?.evidence; // told now and then: the newest that was
    this.state = h("span");
    this.actions = h("div", { class: "actions" });
    this.said = h("div");
    this.live = h("section", { class: "panel", "aria-labelledby": "live-title" });
    this.result = h("div");
    const dataset = datasets.get(job.dataset_id);
    this.node = h("div", {},
      h("div", { class: "head" }, h("div", {},
        h("p", { class: "crumb" }, h("a", { href: "#/jobs" }, "Jobs")),
        h("h1", { tabindex: "-1" }, name(jobTitle(job, datasets))),
        h("p", { class: "quiet" }, this.state, ` ${KIND[job.kind]} · `, name(dataset?.name ?? "deleted dataset"),
          ` · ${moment(job.created_at)}`)), this.actions),
      this.said, this.live, this.result, settingsPart(job));
    this.makeLive();
    this.show();
    this.follow();
  }

  // -- what is shown ------------------------------------------------------------------------

  makeLive() {
    this.bar = h("progress", { max: 1, "aria-label": "Share done" });
    this.left = h("p", { class: "quiet" });
    this.cards = h("dl", { class: "cards" });
    this.plots = h("div", { class: "plots live" });
    this.live.append(h("h2", { id: "live-title" }, "Progress"), this.bar, this.left, this.cards, this.plots);
  }

  show() {
    const { job } = this;
    const ended = ENDED.has(job.status);
    this.state.replaceChildren(badge(job.status));
    this.actions.replaceChildren(...this.buttons());
    this.live.hidden = job.status === "SUCCEEDED";
    this.showProgress();
    this.result.replaceChildren();
    if (job.status === "FAILED") {
      this.result.append(h("div", { class: "notice bad" },
        h("p", {}, h("strong", {}, job.error?.yours ? "The data or settings do not work." : "The service failed.")),
        h("p", {}, sentence(job.error?.detail ?? "No reason was given."))));
    } else if (job.status === "CANCELLED") {
      this.result.append(h("div", { class: "notice" },
        h("p", {}, "Cancelled. The work so far is kept: Resume continues from there, to the same result.")));
    } else if (job.status === "SUCCEEDED") {
      const select = job.targets ? manyPart : selectionPart;
      const part = { select, explain: explanationPart, ingest: ingestPart }[job.kind];
      this.result.append(part(job));
    }
    if (ended) this.left.textContent = job.status === "SUCCEEDED" ? "" : STATUS[job.status][0];
  }

  showProgress() {
    const progress = this.job.progress ?? {};
    const { stage, remaining_seconds: left } = progress;
    const share = stage ? stage.n_done / stage.n_steps : progress.share;
    const doing = stage ? `${sentence(progress.doing)}: ${number(stage.n_done)} of ${count(stage.n_steps, "block")}`
      : progress.doing;
    if (typeof share === "number") this.bar.value = share;
    else this.bar.removeAttribute("value");
    if (this.job.status === "QUEUED" || this.job.status === "CANCELLED") this.bar.value = share ?? 0;
    const percent = typeof share === "number" && !stage ? `${Math.round(share * 100)} %` : "";
    const rest = left === null || left === undefined ? "" : `about ${duration(left)} left`;
    this.left.textContent = this.job.status === "QUEUED" ? "Waiting to start"
      : [percent, doing, rest].filter(Boolean).join(" · ") || "Starting…";
    const cards = [
      ["n_relevant", "Features found", number], ["n_trees", "Trees", number], ["n_passes", "Passes", number],
      ["seconds", "Time", duration], ["peak_mem", "Memory", bytes],
    ].filter(([key]) => progress[key] !== null && progress[key] !== undefined);
    this.cards.replaceChildren(...cards.map(([key, label, show]) => card(label, show(progress[key]))));
    if (this.job.kind === "select") {
      const against = Object.entries(this.evidence ?? {});
      this.plots.replaceChildren(
        h("div", {}, figure("Features found against trees", foundCurve(this.points))),
        ...against.map(([kind, histogram]) => h("div", {}, ...evidenceFigure(kind, histogram))));
    }
  }

  buttons() {
    const { job } = this;
    const made = [];
    const button = (text, kind, click) =>
      made.push(h("button", { class: `button ${kind}`, type: "button", on: { click } }, text));
    if (job.status === "RUNNING" && job.kind === "select") {
      if (job.finish_asked) made.push(h("span", { class: "quiet" }, "Finishing …"));
      else button("Finish now", "", () => this.change(":finish"));
    }
    if (job.status === "QUEUED" || job.status === "RUNNING") button("Cancel", "", () => this.change(":cancel"));
    if (job.status === "CANCELLED" || job.status === "FAILED") button("Resume", "first", () => this.change(":resume"));
    if (job.status === "SUCCEEDED" && job.kind === "select" && job.summary?.n_relevant && !job.targets) {
      made.push(h("a", { class: "button first", href: `#/explain?job=${job.id}` }, "Explain"));
    }
    if (ENDED.has(job.status)) button("Delete", "", () => this.delete());
    return made;
  }

  // -- what may be done ---------------------------------------------------------------------

  async change(verb) {
    this.said.replaceChildren();
    try {
      const before = this.job.last_event;
      this.update(await post(this.path + verb));
      if (verb === ":resume") this.follow(before);
    } catch (error) {
      this.said.replaceChildren(problem(error));
    }
  }

  async delete() {
    const done = await confirm("Delete this job?", "Its result is deleted and cannot be restored.", "Delete",
      () => remove(this.path));
    if (done) location.hash = "#/jobs";
  }

  update(job) {
    const changed = job.status !== this.job.status;
    this.job = job;
    if (changed) {
      this.show();
      say(`The job: ${STATUS[job.status][0]}`);
    } else {
      this.showProgress();
    }
  }

  // -- live events --------------------------------------------------------------------------

  follow() {
    this.source?.close();
    if (this.job.status === "SUCCEEDED") return;
    this.points = [];
    this.source = new EventSource(`${this.path}/events`);
    this.source.addEventListener("progress", (event) => this.onProgress(JSON.parse(event.data)));
    this.source.addEventListener("status", (event) => this.onStatus(JSON.parse(event.data)));
  }

  onProgress(progress) {
    if (typeof progress.n_trees === "number") {
      const last = this.points[this.points.length - 1];
      if (!last || progress.n_trees > last.n_trees) {
        this.points.push({ n_trees: progress.n_trees, n_relevant: progress.n_relevant });
      }
    }
    this.evidence = progress.evidence ?? this.evidence;
    if (ENDED.has(this.job.status)) return this.draw();
    this.job = { ...this.job, progress };
    return this.draw();
  }

  // Many events come at once when a stream starts: they are drawn together.
  draw() {
    this.drawing ??= requestAnimationFrame(() => {
      this.drawing = null;
      if (!this.closed) this.showProgress();
    });
  }

  async onStatus(told) {
    if (told.status === this.job.status && !ENDED.has(told.status)) return;
    try {
      const job = await get(this.path);
      if (this.closed) return;
      this.update(job);
      if (ENDED.has(job.status)) this.source.close();
    } catch (error) {
      this.said.replaceChildren(problem(error));
    }
  }

  close() {
    this.closed = true;
    this.source?.close();
  }
}

function settingsPart(job) {
  const shown = Object.entries(job.settings).filter(([, v]) => v !== null && !(Array.isArray(v) && !v.length));
  const facts = shown.map(([key, value]) => [h("dt", {}, key),
    h("dd", {}, typeof value === "object" ? JSON.stringify(value) : String(value))]);
  return h("details", { class: "panel" }, h("summary", {}, "Settings"),
    h("dl", { class: "facts small" }, h("dt", {}, "id"), h("dd", {}, h("code", {}, job.id)), facts));
}
