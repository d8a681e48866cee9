// Start an explanation of what a selection found.

import { datasetsById, get, newKey, post } from "./api.js";
import { choice, field, h, name, problem, say } from "./dom.js";
import { count, jobTitle } from "./text.js";

// name, and what it answers; "context" takes a value
const ANALYSES = [
  ["mdi", "How much a forest uses a feature"],
  ["mda", "How much worse it predicts without a feature"],
  ["label-permutation", "Could that be chance"],
  ["per-class", "Which features tell one class from all others"],
  ["umfi", "What a feature tells at most, shared or not"],
  ["vote-shift", "Do votes of trees change when a feature is shuffled"],
  ["one-probe", "Is it ranked above a random feature"],
  ["conditional-error-rate", "How far down the ranking is it safe to go"],
  ["mci", "What a feature tells at most, over all sets"],
  ["network", "Which features tell which"],
  ["context", "Does a feature tell more, or less, in a context"],
];
const FIRST = new Set(["mdi", "mda", "label-permutation"]);

export async function explainView(_parts, params) {
  const id = params.get("job") ?? "";
  const [job, datasets] = await Promise.all([get(`/v1/jobs/${encodeURIComponent(id)}`), datasetsById()]);
  const key = newKey();
  const context = h("input", { name: "context-value", maxlength: 200, autocomplete: "off" });
  const contextField = field("Context", context, "The name of a feature or a target, as sex.");
  contextField.hidden = true;
  const trees = h("input", { type: "number", name: "n_trees", value: "1000", min: "1", max: "100000", required: true });
  const seed = h("input", { type: "number", name: "seed", value: "0", min: "0", required: true });
  const label = h("input", { name: "name", maxlength: 200, autocomplete: "off" });
  const said = h("div");
  const button = h("button", { class: "button first", type: "submit" }, "Start");
  const form = h("form", { class: "panel", on: { submit: send, change: () => {
    contextField.hidden = !form.querySelector("input[value=context]").checked;
  } } },
  h("fieldset", {}, h("legend", {}, "Analyses"),
    h("div", { class: "fields" }, ANALYSES.map(([value, hint]) =>
      choice("checkbox", "analysis", value, value, hint, FIRST.has(value))))),
  contextField, h("div", { class: "fields" }, field("Trees", trees), field("Seed", seed)),
  field("Name of the job (optional)", label), said,
  h("div", { class: "actions" }, button, h("a", { class: "button", href: `#/jobs/${job.id}` }, "Back")));

  async function send(event) {
    event.preventDefault();
    const analyses = [...form.querySelectorAll("input[name=analysis]:checked")].map(({ value }) => (
      { analysis: value, value: value === "context" ? context.value.trim() || null : null }));
    button.disabled = true;
    try {
      if (!analyses.length) throw new Error("Choose at least one analysis.");
      const made = await post("/v1/jobs", {
        kind: "explain", dataset_id: job.dataset_id, features: { job_id: job.id }, name: label.value.trim() || null,
        settings: { analyses, n_trees: Number(trees.value), seed: Number(seed.value),
          target: job.settings.target },
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
