// Add a dataset: register a feature store, or send files.

import { newKey, post, upload } from "./api.js";
import { choice, field, h, problem, say } from "./dom.js";
import { kinds } from "./kinds.js";
import { SourceFields, allSuffixes, formatList, loadFormats } from "./source-fields.js";

export async function newDatasetView() {
  const [formats, { targets }] = await Promise.all([loadFormats(), kinds()]);
  const ways = h("fieldset", {}, h("legend", {}, "Where are the data?"),
    choice("radio", "way", "upload", "On my computer", "A table, an array, or another known format", true),
    choice("radio", "way", "store", "On the service", "A feature store, written by srs ingest"),
    choice("radio", "way", "source", "At an address, or a file on the service", "The service fetches and reads it"));
  const parts = { upload: uploadPart(formats, targets), store: storePart(), source: sourcePart(formats, targets) };
  const label = h("input", { name: "name", maxlength: 200, required: true, autocomplete: "off" });
  const said = h("div");
  const button = h("button", { class: "button first", type: "submit" }, "Add");
  const form = h("form", { class: "panel", on: { submit: (event) => send(event) } },
    ways, formatList(formats), Object.values(parts).map((part) => part.node), field("Name", label, "Name of the dataset."), said,
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
      "In a folder or object storage that the administrator opened to users.")),
    suggest: () => stem(path.value),
    read: async () => ({ store: required(path.value, "Give the path of the store.") }),
  };
}

function required(value, text) {
  if (!value.trim()) throw new Error(text);
  return value.trim();
}

function uploadPart(formats, targets) {
  const accept = formats.accept;
  const file = h("input", { type: "file", name: "file", multiple: true, accept });
  const targetFile = h("input", { type: "file", name: "target-file", accept });
  const column = h("input", { name: "column", maxlength: 200, autocomplete: "off" });
  const how = new SourceFields({
    control: (name) => h("input", { type: "file", name, accept }),
    read: async (control, said) => (control.files.length
      ? { upload_id: await sendFile(control.files[0], said) } : null),
  }, targets);
  file.addEventListener("change", () => how.show(formats.of(file.files[0]?.name ?? "")));
  return {
    node: h("div", {}, field("File", file, "Choose several if they belong together, e.g. .bed, .bim and .fam."),
      h("div", { class: "fields" }, field("Target: a column of the file", column, "Its name, e.g. outcome."),
        field("or a separate file", targetFile, "One value per sample.")), how.node),
    suggest: () => file.files[0]?.name ?? "",
    read: async (said) => {
      if (!file.files.length) throw new Error("Choose a file.");
      checkTogether(formats, [...file.files].map((one) => one.name));
      const target = targetFile.files.length
        ? { file: { upload_id: await sendFile(targetFile.files[0], said) } }
        : column.value.trim() ? { column: column.value.trim() } : null;
      const sent = [];
      for (const one of file.files) sent.push({ upload_id: await sendFile(one, said) });
      return { source: { ...together(sent), target, ...(await how.read(said)) } };
    },
  };
}

// A large file must not travel before it is known that its companions are missing.
function checkTogether(formats, names) {
  const there = new Set(names.map((one) => one.toLowerCase()));
  for (const one of names) {
    const format = formats.of(one);
    if (!format?.companions.length && !format?.beside.length) continue;
    const ends = allSuffixes(format).filter((end) => one.toLowerCase().endsWith(end));
    const bare = one.slice(0, -Math.max(...ends.map((end) => end.length)));
    const given = (end) => there.has((bare + end).toLowerCase());
    // What may stand for a companion begins with its ending, e.g. .pvar.zst.
    const chosen = (end) => (given(end) ? end : format.beside.find((other) => other.startsWith(end) && given(other)) ?? end);
    const needed = [format.suffixes[0], ...format.companions.map(chosen)].map((suffix) => bare + suffix);
    const missing = needed.filter((file) => !there.has(file.toLowerCase()));
    if (missing.length) throw new Error(`Also choose ${missing.join(", ")}: ${needed.join(", ")} belong together.`);
  }
}

const together = (files) => (files.length === 1 ? { file: files[0] } : { files });

async function sendFile(file, said) {
  const bar = h("progress", { value: 0, max: 1, "aria-label": `Sending ${file.name}` });
  said.replaceChildren(h("p", { class: "quiet small" }, `Sending ${file.name}`), bar);
  const sent = await upload(file, (share) => { bar.value = share; });
  return sent.id;
}

function sourcePart(formats, targets) {
  const file = h("input", { name: "source", maxlength: 2000, placeholder: "https://data.example.org/X.npy",
    autocomplete: "off" });
  const target = h("input", { name: "target", maxlength: 2000, autocomplete: "off" });
  const place = (text) => (text.includes("://") ? { url: text } : { path: text });
  const how = new SourceFields({
    control: (name) => h("input", { name, maxlength: 2000, autocomplete: "off" }),
    read: async (control) => (control.value.trim() ? place(control.value.trim()) : null),
  }, targets);
  file.addEventListener("input", () => how.show(formats.of(file.value.trim())));
  const isFile = (text) => text.includes("://") || /\.(npy|csv|tsv|txt|gz)$/.test(text);
  return {
    node: h("div", {}, field("Address or path", file),
      field("Target", target, "A column of the data, or the address or path of a file with one value per sample."), how.node),
    suggest: () => stem(file.value),
    read: async (said) => {
      const wanted = target.value.trim();
      return { source: {
        file: place(required(file.value, "Give an address or a path.")),
        target: !wanted ? null : isFile(wanted) ? { file: place(wanted) } : { column: wanted },
        ...(await how.read(said)),
      } };
    },
  };
}
