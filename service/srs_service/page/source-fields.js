// How data are read: the options of a source, of which each format shows those that it uses.

import { get } from "./api.js";
import { choice, field, h, options } from "./dom.js";

const ARCHIVE = ".zip";

export const allSuffixes = (format) => [...format.suffixes, ...format.companions, ...format.beside];

// What the service reads, from its own list.
export async function loadFormats() {
  const accepted = (await get("/v1/formats")).items.filter((format) => format.accepted);
  return {
    items: accepted,
    // Browsers know the last part of a name only.
    accept: [...new Set(accepted.flatMap((f) => [...allSuffixes(f), ARCHIVE])
      .map((suffix) => suffix.slice(suffix.lastIndexOf("."))))].join(","),
    of: (name) => longest(accepted, name.toLowerCase()),
  };
}

function longest(formats, name) {
  let best = null;
  let length = 0;
  for (const format of formats) {
    for (const suffix of allSuffixes(format)) {
      if (name.endsWith(suffix) && suffix.length > length) [best, length] = [format, suffix.length];
    }
  }
  return best;
}

// What this form calls the options of a source.
const LABELS = { orientation: "Shape", dataset: "Which array", mask: "Mask", table: "Table of the samples",
  target: "Target", id_column: "Column of the sample ids" };
const option = (name) => (Object.hasOwn(LABELS, name) ? h("em", {}, LABELS[name]) : h("code", {}, name));
const worded = (help) => help.split("`").map((part, i) => (i % 2 ? option(part) : part));

// All formats in a list that is folded away.
export const formatList = (formats) => h("details", {}, h("summary", {}, "Formats"),
  h("dl", { class: "facts small" }, formats.items.flatMap((format) => [
    h("dt", {}, format.title), h("dd", {}, allSuffixes(format).join(" "),
      format.kinds.includes("folder") ? " (also a folder, as several files or .zip)" : "", ": ", worded(format.help))])));

const text = (name, props = {}) => h("input", { name, maxlength: 2000, autocomplete: "off", ...props });
const listed = (input) => input.value.split(",").map((part) => part.trim()).filter(Boolean);

// `place` makes the control of a further file, `read` what the service is told of it; `targets` are the kinds of target.
export class SourceFields {
  constructor(place, targets) {
    this.place = place;
    this.orientation = options(h("select"), [["samples", "Each row is a sample"],
      ["features", "Each row is a feature"]], "samples");
    this.kind = options(h("select"), [["", "Decide by its values"], ...targets.map((k) => [k.name, k.title])], "");
    this.dataset = text("dataset", { maxlength: 200 });
    this.mask = place.control("mask");
    this.table = place.control("table");
    this.covariates = text("covariates");
    this.columns = text("sample-columns");
    this.event = text("event", { maxlength: 200 });
    this.exposure = text("exposure", { maxlength: 200 });
    this.ordinal = text("ordinal");
    this.ofKind = {
      survival: field("Column of the event", this.event, "1 where the event was seen, 0 where the time is censored."),
      count: field("Column of the exposure", this.exposure, "Time or amount that it was counted in; empty: all alike."),
      ordinal: field("Levels from low to high", this.ordinal, "E.g. low, mid, high; empty: numbers as they are."),
    };
    const shown = () => { for (const [kind, node] of Object.entries(this.ofKind)) node.hidden = this.kind.value !== kind; };
    this.kind.addEventListener("change", shown);
    shown();
    this.ids = text("id-column", { maxlength: 200 });
    const without = choice("checkbox", "no-ids", "true", "No column holds sample ids",
      "A column that is called like one, e.g. sample_id, is then a feature.");
    this.noIds = without.querySelector("input");
    this.noIds.addEventListener("change", () => { this.ids.disabled = this.noIds.checked; });
    this.categorical = text("categorical");
    this.used = {
      orientation: field(LABELS.orientation, this.orientation),
      dataset: field(LABELS.dataset, this.dataset, "If there are several, e.g. layers/counts."),
      mask: field(LABELS.mask, this.mask, "Image; its voxels other than 0 are the features."),
    };
    this.node = h("div", {},
      h("div", { class: "fields" }, this.used.orientation, field("The target is", this.kind),
        ...Object.values(this.ofKind)),
      h("div", { class: "fields" }, this.used.dataset, this.used.mask),
      h("details", {}, h("summary", {}, "More about the samples"),
        h("div", { class: "fields" },
          field(LABELS.table, this.table, "Joined by sample id; the target may be in it."),
          field("Covariates as features", this.covariates, "Columns of the table that become features; nothing is adjusted for them."),
          field("Sample columns to keep", this.columns, "Columns to adjust for and the like, e.g. age, sex, site, patient."),
          field(LABELS.id_column, this.ids, "Empty: found by its name, e.g. sample_id."), without,
          field("Categories", this.categorical, "Numeric features to read as categories."))));
    this.show(null);
  }

  // Only what the format uses; all of it where it is not known yet.
  show(format) {
    for (const [option, node] of Object.entries(this.used)) {
      node.hidden = format ? !format.options.includes(option) : option !== "orientation";
    }
  }

  async read(said) {
    const given = (option, value) => (this.used[option].hidden ? null : value);
    const ofKind = (kind, value) => (this.kind.value === kind ? value : null);
    const file = async (control) => (control ? this.place.read(control, said) : null);
    const source = {
      orientation: given("orientation", this.orientation.value) ?? "samples",
      target_kind: this.kind.value || null,
      event: ofKind("survival", this.event.value.trim()) || null,
      exposure: ofKind("count", this.exposure.value.trim()) || null,
      ordinal: ofKind("ordinal", listed(this.ordinal).length ? listed(this.ordinal) : null),
      dataset: given("dataset", this.dataset.value.trim()) || null,
      mask: await file(given("mask", this.mask)),
      table: await file(this.table),
      covariates: listed(this.covariates),
      sample_columns: listed(this.columns),
      id_column: this.noIds.checked ? "" : this.ids.value.trim() || null,
      categorical: listed(this.categorical),
    };
    return source;
  }
}
