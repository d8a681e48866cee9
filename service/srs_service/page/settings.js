// Fields for settings of a selection, made from the service's own document: a setting that is
// described there is here, with its range, choices and default.

import { get } from "./api.js";
import { choice, field, h, options } from "./dom.js";

export async function selectSettings() {
  const document = await get("/openapi.json");
  return document.components.schemas.SelectSettings.properties;
}

export class SettingFields {
  // All settings but those that the form has already.
  constructor(schema, shown) {
    const entries = Object.entries(schema).filter(([name]) => !shown.has(name));
    this.fields = entries.map(([name, about]) => new SettingField(name, about));
    const groups = new Map(Object.values(schema).map((about) => [about["x-group"], []]));
    for (const one of this.fields) groups.get(one.group).push(one.node);
    this.node = h("details", {}, h("summary", {}, "All settings"),
      ...[...groups].filter(([, nodes]) => nodes.length).map(([title, nodes]) =>
        h("fieldset", {}, h("legend", {}, title), h("div", { class: "fields dense" }, nodes))));
  }

  // What was changed; the service knows the defaults.
  read() {
    return Object.fromEntries(this.fields.filter((one) => one.changed()).map((one) => [one.name, one.read()]));
  }
}

class SettingField {
  constructor(name, about) {
    this.name = name;
    this.group = about["x-group"];
    this.kind = (about.anyOf ?? [about]).find((kind) => kind.type !== "null");
    this.default = about.default ?? null;
    const label = about.title + (about["x-symbol"] ? ` (${about["x-symbol"]})` : "");
    const hint = about.description.replace(/ null: /, " Empty: ");
    if (this.kind.type === "boolean") {
      this.node = choice("checkbox", name, "true", label, hint, this.default);
      this.control = this.node.querySelector("input");
    } else {
      this.control = this.make();
      this.node = field(label, this.control, hint);
    }
    this.before = this.text();
  }

  make() {
    const { kind, name } = this;
    const values = kind.enum ?? (kind.const === undefined ? null : [kind.const]);
    if (values) {
      const offered = values.map((value) => [String(value), String(value)]);
      if (this.default === null) offered.unshift(["", ""]);
      return options(h("select", { name }), offered, this.default === null ? "" : String(this.default));
    }
    if (kind.type === "object") {
      const box = h("textarea", { name, rows: 3, spellcheck: "false", placeholder: '{"set": ["feature", "feature"]}' });
      box.addEventListener("input", () => box.setCustomValidity(isJson(box.value) ? "" : "This is not JSON."));
      return box;
    }
    if (kind.type === "integer" || kind.type === "number") {
      return h("input", { name, type: "number", inputmode: "decimal", min: kind.minimum, max: kind.maximum,
        step: kind.type === "integer" ? 1 : "any", value: this.default, required: this.default !== null });
    }
    return h("input", { name, autocomplete: "off", maxlength: 2000, placeholder: kind.items?.enum?.join(", ") });
  }

  text() {
    return this.kind.type === "boolean" ? this.control.checked : this.control.value.trim();
  }

  changed() {
    return this.text() !== this.before;
  }

  read() {
    const text = this.text();
    const { type } = this.kind;
    if (type === "boolean") return text;
    if (!text) return type === "array" ? [] : null;
    if (type === "integer" || type === "number") return Number(text);
    if (type === "array") return text.split(",").map((part) => part.trim()).filter(Boolean);
    return type === "object" ? JSON.parse(text) : text;
  }
}

function isJson(text) {
  try {
    return !text.trim() || typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
