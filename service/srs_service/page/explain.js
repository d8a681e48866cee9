// Start an explanation of what a selection found. Which analyses there are is the service's to say.

import { AnalysisFields } from "./analysis-options.js";
import { datasetsById, get, newKey, post } from "./api.js";
import { choice, field, h, name, options, problem, say } from "./dom.js";
import { count, jobTitle } from "./text.js";
import { WebhookFields } from "./webhook.js";

export async function explainView(_parts, params) {
  const id = params.get("job") ?? "";
  const [job, datasets, { items }] = await Promise.all(
    [get(`/v1/jobs/${encodeURIComponent(id)}`), datasetsById(), get("/v1/analyses")]);
  const key = newKey();
  const fields = new Map(items.map((described) => [described.analysis, new AnalysisFields(described)]));
  const webhook = new WebhookFields();
  const trees = h("input", { type: "number", name: "n_trees", value: "1000", min: "1", max: "100000", required: true });
  const known = (datasets.get(job.dataset_id)?.targets ?? []).map((one) => one.name);
  const columns = known.filter((one) => one !== (job.settings.target ?? known[0]));
  const subjects = options(h("select", { name: "subjects" }),
    [["", "Each sample is a subject of its own"], ...columns.map((one) => [one, one])], job.settings.subjects ?? "");
  const shared = items.filter((one) => one.forest).map((one) => one.analysis);
  const seed = h("input", { type: "number", name: "seed", value: "0", min: "0", required: true });
  const label = h("input", { name: "name", maxlength: 200, autocomplete: "off" });
  const said = h("div");
  const button = h("button", { class: "button first", type: "submit" }, "Start");
  const form = h("form", { class: "panel", on: { submit: send, change: showChosen } },
  h("fieldset", {}, h("legend", {}, "Analyses"),
    h("div", { class: "fields" }, items.map(({ analysis, question, usual }) =>
      choice("checkbox", "analysis", analysis, analysis, question, usual)))),
  [...fields.values()].map(({ node }) => node),
  h("div", { class: "fields" }, field("Trees of the forest", trees, `Shared by ${shared.join(", ")}.`), field("Seed", seed)),
  columns.length > 0 && field("Subjects", subjects, "Column of samples that belong together, e.g. those of one person."),
  field("Name of the job (optional)", label),
  h("details", {}, h("summary", {}, "Notify another server"), webhook.node), said,
  h("div", { class: "actions" }, button, h("a", { class: "button", href: `#/jobs/${job.id}` }, "Back")));

  function showChosen() {
    for (const [analysis, shown] of fields) shown.show(form.querySelector(`input[value=${analysis}]`).checked);
  }
  showChosen();

  async function send(event) {
    event.preventDefault();
    const analyses = [...form.querySelectorAll("input[name=analysis]:checked")].map(({ value }) => (
      { analysis: value, ...fields.get(value).read() }));
    button.disabled = true;
    try {
      if (!analyses.length) throw new Error("Choose at least one analysis.");
      const made = await post("/v1/jobs", {
        kind: "explain", dataset_id: job.dataset_id, features: { job_id: job.id }, name: label.value.trim() || null,
        webhook: webhook.read(), settings: { analyses, n_trees: Number(trees.value), seed: Number(seed.value),
          target: job.settings.target, subjects: subjects.value || null },
      }, { "Idempotency-Key": key });
      say("The job was accepted.");
      location.hash = `#/jobs/${made.id}`;
    } catch (error) {
      said.replaceChildren(problem(error));
      button.disabled = false;
    }
  }

  return {
    title: "Explain",
    node: h("div", {}, h("div", { class: "head" }, h("div", {},
      h("p", { class: "crumb" }, h("a", { href: `#/jobs/${job.id}` }, name(jobTitle(job, datasets)))),
      h("h1", { tabindex: "-1" }, "Explain"),
      h("p", { class: "quiet" }, `Why the ${count(job.summary?.n_relevant ?? 0, "feature")} that were found matter.`))),
    form),
  };
}
