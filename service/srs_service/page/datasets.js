// The list of datasets.

import { datasetsById, remove } from "./api.js";
import { confirm } from "./confirm.js";
import { h, name, problem } from "./dom.js";
import { badge } from "./jobs.js";
import { bytes, count, moment } from "./text.js";

const FRESH_SECONDS = 3;

export async function datasetsView() {
  const list = h("div");
  let timer = null;
  let closed = false;

  async function refresh() {
    clearTimeout(timer);
    try {
      const found = [...(await datasetsById()).values()];
      if (closed) return;
      list.replaceChildren(found.length
        ? h("div", { class: "panel" }, h("ul", { class: "rows" }, found.map((d) => row(d, refresh))))
        : empty());
      if (found.some((d) => d.status === "PENDING")) timer = setTimeout(refresh, FRESH_SECONDS * 1000);
    } catch (error) {
      if (!closed) list.replaceChildren(problem(error, refresh));
    }
  }

  await refresh();
  return {
    title: "Datasets",
    node: h("div", {},
      h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, "Datasets")),
        h("div", { class: "actions" }, h("a", { class: "button first", href: "#/datasets/new" },
          "Add a dataset"))), list),
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function row(dataset, refresh) {
  const ready = dataset.status === "READY";
  return h("li", {},
    h("div", { class: "title" }, name(dataset.name)),
    ready ? h("div", { class: "actions" },
      h("a", { class: "button slim", href: `#/select?dataset=${dataset.id}` }, "Select features"),
      deleteButton(dataset, refresh))
      : h("div", { class: "actions" }, badge(dataset.status),
        dataset.status === "FAILED" && deleteButton(dataset, refresh)),
    h("div", { class: "about" }, about(dataset)));
}

function about(dataset) {
  if (dataset.status === "FAILED") return dataset.error?.detail ?? "it could not be read";
  if (dataset.status === "PENDING") {
    return [`Being read · `, h("a", { href: `#/jobs/${dataset.job_id}` }, "watch")];
  }
  const targets = dataset.targets.map((t) => t.name).join(", ");
  return [
    `${count(dataset.n_features, "feature")} × ${count(dataset.n_samples, "sample")}`,
    targets ? [" · target: ", name(targets)] : " · no target",
    dataset.any_missing ? " · with missing values" : "",
    dataset.n_bytes ? ` · ${bytes(dataset.n_bytes)}` : "", ` · ${moment(dataset.created_at)}`,
    dataset.notices?.length ? h("div", {}, `Notice: ${dataset.notices.join("; ")}`) : null,
  ];
}

function deleteButton(dataset, refresh) {
  return h("button", { class: "button slim", type: "button", on: { click: async () => {
    const text = `"${dataset.name}" is removed from the service. A store that was registered by its path stays.`;
    if (await confirm("Delete this dataset?", text, "Delete", () => remove(`/v1/datasets/${dataset.id}`))) {
      refresh();
    }
  } } }, "Delete", h("span", { class: "unseen" }, ` ${dataset.name}`));
}

const empty = () => h("div", { class: "panel empty" }, h("h2", {}, "No datasets yet"),
  h("p", { class: "quiet" }, "Upload a table or an array, or register a feature store that the service can read."),
  h("div", { class: "actions" }, h("a", { class: "button first", href: "#/datasets/new" }, "Add a dataset")));
