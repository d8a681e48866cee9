// Fields for the value and the options of an analysis, made from what /v1/analyses says of them.

import { field, h, options, sentence } from "./dom.js";
import { number } from "./text.js";

// All of one analysis; there to see while it is chosen. A field that is left empty is not sent.
export class AnalysisFields {
  constructor({ analysis, value, options: described }) {
    const made = described.map((option) => new OptionField(analysis, option));
    this.value = made.find(({ name }) => name === value);
    this.others = made.filter((one) => one !== this.value);
    const details = this.others.length > 0 && h("details", {}, h("summary", {}, `Options of ${analysis}`),
      h("div", { class: "fields" }, this.others.map(({ node }) => node)));
    // A field that is refused must be seen.
    for (const { control } of this.others) control.addEventListener("invalid", () => { details.open = true; });
    this.controls = made.map(({ control }) => control);
    this.node = h("div", {}, this.value && h("div", { class: "fields" }, this.value.node), details);
    this.show(false);
  }

  // A field that is not shown must not keep the form from being sent.
  show(chosen) {
    this.node.hidden = !chosen;
    for (const control of this.controls) control.disabled = !chosen;
  }

  read() {
    const given = this.others.map((one) => [one.name, one.read()]).filter(([, value]) => value !== undefined);
    return { value: this.value?.read() ?? null, options: Object.fromEntries(given) };
  }
}

class OptionField {
  constructor(analysis, option) {
    this.option = option;
    this.name = option.name;
    this.control = makeControl(analysis, option);
    this.node = field(`${option.label} of ${analysis}`, this.control, hint(option));
  }

  // The value as JSON has it; undefined where the field is empty.
  read() {
    const text = this.control.value.trim();
    const { type, none } = this.option;
    if (!text) return undefined;
    if (none && text.toLowerCase() === "none") return null;
    if (type === "int" || type === "float") return Number(text);
    if (type === "bool") return text === "true";
    if (type === "names") return text.split(",").map((one) => one.trim()).filter(Boolean);
    return text;
  }
}

function makeControl(analysis, option) {
  const { name, type, low, high, choices, none, required } = option;
  const props = { name: `${analysis}-${name}`, required };
  if (choices.length || type === "bool") {
    const offered = choices.length ? choices : ["true", "false"];
    return options(h("select", props), [["", "its default"], ...offered.map((c) => [c, c])], "");
  }
  const whole = type === "int";
  if ((whole || type === "float") && !none) {
    return h("input", { ...props, type: "number", min: low, max: high, step: whole ? 1 : "any" });
  }
  const pattern = whole ? "[0-9]+|none" : null;
  return h("input", { ...props, pattern, maxlength: type === "names" ? 100_000 : 200, autocomplete: "off" });
}

function hint({ help, type, default: usual, low, high, none, required }) {
  const told = [`${sentence(help)}.`];
  if (type === "names") told.push("Names, separated by commas.");
  if (type === "column") told.push("E.g. sex.");
  if (low !== null && high !== null) told.push(`${number(low)} to ${number(high)}.`);
  if (none) told.push(`None: ${none}.`);
  if (!required) told.push(`Default: ${usual === null ? "none" : typeof usual === "number" ? number(usual) : usual}.`);
  return told.join(" ");
}
