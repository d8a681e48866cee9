// Start a selection: what to look at, how sure to be, and what it will cost, before it starts.

import { datasetsById, newKey, post } from "./api.js";
import { field, h, loading, name, options, problem, say } from "./dom.js";
import { selectSettings, SettingFields } from "./settings.js";
import { bytes, count, duration, number } from "./text.js";
import { WebhookFields } from "./webhook.js";

const ALL = "\u0000all"; // no target has this name
const PLAN_AFTER = 600; // milliseconds without a change

export async function selectView(_parts, params) {
  const datasets = [...(await datasetsById()).values()].filter((d) => d.status === "READY");
  const head = h("div", { class: "head" }, h("div", {}, h("p", { class: "crumb" },
    h("a", { href: "#/jobs" }, "Jobs")), h("h1", { tabindex: "-1" }, "New selection")));
  if (!datasets.length) return { title: "New selection", node: h("div", {}, head, noDatasets()) };

  const form = new Form(datasets, params.get("dataset"), await selectSettings());
  return { title: "New selection", node: h("div", {}, head, form.node), close: () => form.close() };
}

const noDatasets = () => h("div", { class: "panel empty" }, h("h2", {}, "There is no dataset to select from"),
  h("p", { class: "quiet" }, "Add one first: a feature store on the service, or a file on your computer."),
  h("div", { class: "actions" }, h("a", { class: "button first", href: "#/datasets/new" }, "Add a dataset")));

const numeric = (props) => h("input", { type: "number", inputmode: "decimal", ...props });

class Form {
  constructor(datasets, chosen, schema) {
    this.datasets = new Map(datasets.map((d) => [d.id, d]));
    this.dataset = options(h("select", { name: "dataset" }), datasets.map((d) => [d.id, d.name]), chosen);
    this.datasetField = field("Dataset", this.dataset, " ");
    this.target = h("select", { name: "target" });
    this.fdr = numeric({ name: "fdr", value: "0.1", min: "0.001", max: "0.999", step: "any", required: true });
    this.memory = h("input", { name: "memory", value: "2GB", required: true, autocomplete: "off",
      pattern: "[0-9.]+ ?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)", title: "An amount, e.g. 512MB or 2GB" });
    this.seed = numeric({ name: "seed", value: "0", min: "0", step: "1", required: true });
    this.maxSeconds = numeric({ name: "max_seconds", min: "1", step: "any" });
    this.maxTrees = numeric({ name: "max_trees", min: "1", step: "1" });
    this.holdout = numeric({ name: "holdout", value: "0", min: "0", max: "0.9", step: "any", required: true });
    this.pinned = h("input", { name: "pinned", autocomplete: "off", maxlength: 2000 });
    this.label = h("input", { name: "name", maxlength: 200, autocomplete: "off" });
    this.webhook = new WebhookFields();
    this.said = h("div");
    this.plan = h("div", { "aria-live": "polite" });
    this.start = h("button", { class: "button first", type: "submit" }, "Start");
    this.key = newKey();
    this.costless = new Set([this.label, this.webhook.url, this.webhook.secret]); // change no plan
    const own = [this.target, this.fdr, this.memory, this.seed, this.maxSeconds, this.maxTrees, this.holdout, this.pinned];
    this.others = new SettingFields(schema, new Set(own.map((control) => control.name)));
    this.node = this.build();
    this.showDataset();
    this.planSoon(0);
  }

  build() {
    const form = h("form", { class: "two", on: {
      submit: (event) => this.submit(event),
      input: (event) => {
        if (event.target === this.dataset) this.showDataset();
        this.key = newKey();
        if (!this.costless.has(event.target)) this.planSoon(PLAN_AFTER);
      },
    } },
    h("div", { class: "panel" }, this.datasetField,
      field("Target", this.target, "What the features should explain."),
      h("div", { class: "fields" },
        field("False discovery rate", this.fdr, "Share of the list that may be false: 0.1 is 10 %."),
        field("Memory", this.memory, "Memory limit of the job, e.g. 512MB or 2GB.")),
      field("Name of the job (optional)", this.label),
      h("details", {}, h("summary", {}, "More settings"),
        h("div", { class: "fields" },
          field("Seed", this.seed, "The same seed gives the same result."),
          field("Held-out share", this.holdout, "Share of samples that are predicted at the end: 0 to 0.9."),
          field("Maximum seconds", this.maxSeconds, "Empty: until the list no longer changes."),
          field("Maximum trees", this.maxTrees, "Empty: no limit.")),
        field("Pinned features", this.pinned, "Covariates to take into account, separated by commas."),
        this.webhook.node)),
    h("section", { class: "panel sticky", "aria-labelledby": "plan-title" },
      h("h2", { id: "plan-title" }, "Plan"), this.plan),
    h("div", { class: "panel wide" }, this.others.node, this.said,
      h("div", { class: "actions" }, this.start, h("a", { class: "button", href: "#/jobs" }, "Back"))));
    this.form = form;
    return form;
  }

  showDataset() {
    const dataset = this.datasets.get(this.dataset.value);
    this.datasetField.querySelector(".hint").textContent =
      `${count(dataset.n_features, "feature")} × ${count(dataset.n_samples, "sample")}`;
    const targets = dataset.targets.map((t) => [t.name, describeTarget(t)]);
    const all = targets.length > 1 ? [[ALL, `All ${targets.length} targets, one list for each`]] : [];
    options(this.target, [...targets, ...all], null);
    this.start.disabled = !dataset.targets.length;
  }

  settings() {
    const given = {
      target: this.target.value === ALL ? null : this.target.value || null, fdr: Number(this.fdr.value), memory: this.memory.value.trim(),
      seed: Number(this.seed.value), holdout: Number(this.holdout.value),
      max_seconds: this.maxSeconds.value ? Number(this.maxSeconds.value) : null,
      max_trees: this.maxTrees.value ? Number(this.maxTrees.value) : null,
    };
    const pinned = this.pinned.value.split(",").map((p) => p.trim()).filter(Boolean);
    return { ...given, ...(pinned.length ? { pinned } : {}), ...this.others.read() };
  }

  planSoon(after) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.showPlan(), after);
  }

  async showPlan() {
    if (!this.form.checkValidity()) return;
    const mine = (this.turn = (this.turn ?? 0) + 1);
    this.plan.replaceChildren(loading("Predicting time and memory…"));
    try {
      const plan = await post("/v1/jobs:plan", { dataset_id: this.dataset.value, settings: this.settings() });
      if (mine === this.turn) this.plan.replaceChildren(describePlan(plan));
    } catch (error) {
      if (mine === this.turn) this.plan.replaceChildren(refused(error, () => this.showPlan()));
    }
  }

  async submit(event) {
    event.preventDefault();
    this.start.disabled = true;
    this.said.replaceChildren();
    try {
      const body = { kind: "select", dataset_id: this.dataset.value, settings: this.settings(),
        name: this.label.value.trim() || null, webhook: this.webhook.read(),
        ...(this.target.value === ALL ? { targets: "all" } : {}) };
      const job = await post("/v1/jobs", body, { "Idempotency-Key": this.key });
      say("The job was accepted.");
      location.hash = `#/jobs/${job.id}`;
    } catch (error) {
      this.said.replaceChildren(refused(error));
      this.start.disabled = false;
    }
  }

  close() {
    clearTimeout(this.timer);
    this.turn = -1;
  }
}

const describeTarget = (target) => (target.classes
  ? `${target.name} (${Object.keys(target.classes).length} classes)` : `${target.name} (${target.kind})`);

function describePairs(plan) {
  const took = plan.pair_seconds === null ? "" : `about ${duration(plan.pair_seconds)}`;
  if (plan.pairs_left_out === null) return `all ${number(plan.n_pairs)}, ${took}`;
  return `Not all are looked at: ${plan.pairs_left_out}` + (took && ` All would take ${took}.`);
}

function describePlan(plan) {
  return h("div", {},
    h("dl", { class: "cards" },
      h("div", { class: "card" }, h("dt", {}, "Time"), h("dd", {}, `from ${duration(plan.seconds)}`,
        h("span", { class: "of" }, `${duration(plan.seconds_per_pass)} per pass`))),
      h("div", { class: "card" }, h("dt", {}, "Memory"), h("dd", {}, bytes(plan.projected_mem),
        h("span", { class: "of" }, `of ${bytes(plan.allowed_mem)} allowed`)))),
    h("dl", { class: "facts small" },
      h("dt", {}, "Subspaces"), h("dd", {}, `${count(plan.subspace_size, "feature")}, ` +
        `${count(plan.n_probes, "probe")} of each`),
      h("dt", {}, "Trees"), h("dd", {}, `${number(plan.trees_per_pass)} per pass, at least ${number(plan.least_trees)}`),
      h("dt", {}, "Pairs"), h("dd", {}, describePairs(plan)),
      h("dt", {}, "Reading"), h("dd", {}, `${bytes(plan.bytes_per_pass)} ` +
        (plan.resident ? "once, then kept" : "in each pass")),
      h("dt", {}, "Threads"), h("dd", {}, number(plan.threads))),
    h("p", { class: "quiet small" }, "The run ends when its list no longer changes; limits end it earlier."));
}

function refused(error, retry) {
  if (error.code !== "does-not-fit") return problem(error, retry);
  return h("div", { class: "notice bad", role: "alert" },
    h("p", {}, h("strong", {}, "This does not fit.")),
    h("p", {}, `It needs ${bytes(error.body.needed_mem)} and ${bytes(error.body.allowed_mem)} are allowed.`),
    h("p", { class: "small" }, name(error.message)));
}
