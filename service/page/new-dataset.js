// Add a dataset: register a feature store, or send a file.

import { newKey, post, upload } from "./api.js";
import { choice, field, h, options, problem, say } from "./dom.js";

const KINDS = ".npy,.csv,.tsv,.txt,.gz,.parquet";

export async function newDatasetView() {
  const ways = h("fieldset", {}, h("legend", {}, "Where are the data?"),
    choice("radio", "way", "upload", "On my computer", "A table (.csv, .tsv, .parquet) or an array (.npy)", true),
    choice("radio", "way", "store", "On the service", "A feature store, as srs ingest writes it"),
    choice("radio", "way", "source", "At an address, or a file on the service", "It is fetched and read there"));
  const parts = { upload: uploadPart(), store: storePart(), source: sourcePart() };
  const label = h("input", { name: "name", maxlength: 200, required: true, autocomplete: "off" });
  const said = h("div");
  const button = h("button", { class: "button first", type: "submit" }, "Add");
  const form = h("form", { class: "panel", on: { submit: (event) => send(event) } },
    ways, Object.values(parts).map((part) => part.node), field("Name", label, "What you will call it."), said,
    h("div", { class: "actions" }, button, h("a", { class: "button", href: "#/datasets" }, "Back")));

  const chosen = () => form.elements.way.value;
  const choose = () => {
    for (const [way, part] of Object.entries(parts)) part.node.hidden = way !== chosen();
  };
  ways.addEventListener("change", choose);
  form.addEventListener("input", () => {
    const text = parts[chosen()].suggest();
    if (!label.dataset.typed && text) label.value = text;
  });
  label.addEventListener("input", () => { label.dataset.typed = "yes"; });
  choose();

  async function send(event) {
    event.preventDefault();
    button.disabled = true;
    said.replaceChildren();
    try {
      const body = { name: label.value.trim(), ...(await parts[chosen()].read(said)) };
      const dataset = await post("/v1/datasets", body, { "Idempotency-Key": newKey() });
      say("The dataset was added.");
      location.hash = dataset.job_id ? `#/jobs/${dataset.job_id}` : "#/datasets";
    } catch (error) {
      said.replaceChildren(problem(error));
    } finally {
      button.disabled = false;
    }
  }

  return {
    title: "Add a dataset",
    node: h("div", {}, h("div", { class: "head" }, h("div", {},
      h("p", { class: "crumb" }, h("a", { href: "#/datasets" }, "Datasets")),
      h("h1", { tabindex: "-1" }, "Add a dataset"))), form),
  };
}

const stem = (path) => path.split(/[\\/]/).filter(Boolean).pop() ?? "";

function storePart() {
  const path = h("input", { name: "store", maxlength: 2000, placeholder: "cohort7/wide.zarr", autocomplete: "off" });
  return {
    node: h("div", {}, field("Path or address of the store", path,
      "Relative to a folder that the administrator opened, or in object storage that is.")),
    suggest: () => stem(path.value),
    read: async () => ({ store: required(path.value, "Give the path of the store.") }),
  };
}

function required(value, text) {
  if (!value.trim()) throw new Error(text);
  return value.trim();
}

// What every source is asked: orientation and the kind of the target.
function howPart() {
  const orientation = options(h("select"), [["samples", "Each row is a sample"],
    ["features", "Each row is a feature"]], "samples");
  const task = options(h("select"), [["", "Decide by its values"], ["classification", "Classes"],
    ["regression", "A number"]], "");
  return {
    node: h("div", { class: "fields" }, field("Shape", orientation), field("The target is", task)),
    read: () => ({ orientation: orientation.value, task: task.value || null }),
  };
}

function uploadPart() {
  const file = h("input", { type: "file", name: "file", accept: KINDS });
  const targetFile = h("input", { type: "file", name: "target-file", accept: KINDS });
  const column = h("input", { name: "column", maxlength: 200, autocomplete: "off" });
  const how = howPart();
  return {
    node: h("div", {}, field("File", file),
      h("div", { class: "fields" }, field("Target: a column of it", column, "Its name, as outcome."),
        field("or a file of its own", targetFile, "One value a sample.")), how.node),
    suggest: () => file.files[0]?.name ?? "",
    read: async (said) => {
      if (!file.files.length) throw new Error("Choose a file.");
      const target = targetFile.files.length
        ? { file: { upload_id: await sendFile(targetFile.files[0], said) } }
        : column.value.trim() ? { column: column.value.trim() } : null;
      return { source: { file: { upload_id: await sendFile(file.files[0], said) }, target, ...how.read() } };
    },
  };
}

async function sendFile(file, said) {
  const bar = h("progress", { value: 0, max: 1, "aria-label": `Sending ${file.name}` });
  said.replaceChildren(h("p", { class: "quiet small" }, `Sending ${file.name}`), bar);
  const sent = await upload(file, (share) => { bar.value = share; });
  return sent.id;
}

function sourcePart() {
  const file = h("input", { name: "source", maxlength: 2000, placeholder: "https://data.example.org/X.npy",
    autocomplete: "off" });
  const target = h("input", { name: "target", maxlength: 2000, autocomplete: "off" });
  const how = howPart();
  const place = (text) => (text.includes("://") ? { url: text } : { path: text });
  const isFile = (text) => text.includes("/") || /\.(npy|csv|tsv|txt|gz)$/.test(text);
  return {
    node: h("div", {}, field("Address or path", file),
      field("Target", target, "A column of it, or the address or path of a file of one value a sample."), how.node),
    suggest: () => stem(file.value),
    read: async () => {
      const wanted = target.value.trim();
      return { source: {
        file: place(required(file.value, "Give an address or a path.")),
        target: !wanted ? null : isFile(wanted) ? { file: place(wanted) } : { column: wanted }, ...how.read(),
      } };
    },
  };
}
