// Elements from values. Everything a user or a dataset names becomes a text node, never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props, ...children) =>
  fill(document.createElementNS(SVG, tag), props, children);

// A name from outside, kept apart from the direction of the text around it.
export const name = (text) => h("bdi", {}, text);

let fields = 0;

// A labelled control; `hint` says what it is for.
export function field(label, control, hint) {
  control.id ||= `field-${(fields += 1)}`;
  if (hint) control.setAttribute("aria-describedby", `${control.id}-hint`);
  return h(
    "div", { class: "field" },
    h("label", { for: control.id }, label), control,
    hint && h("p", { class: "hint", id: `${control.id}-hint` }, hint),
  );
}

export function choice(type, groupName, value, label, hint, checked = false) {
  const id = `field-${(fields += 1)}`;
  const input = h("input", { type, name: groupName, value, id, checked });
  return h(
    "div", { class: "choice" }, input,
    h("label", { for: id }, label, hint && h("span", { class: "hint" }, hint)),
  );
}

export const options = (select, pairs, chosen) => {
  select.replaceChildren(
    ...pairs.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return select;
};

export const card = (label, value, of) =>
  h("div", { class: "card" }, h("dt", {}, label),
    h("dd", {}, value, of && h("span", { class: "of" }, of)));

export const loading = (text = "Loading…") => h("p", { class: "loading" }, text);

export const problem = (error, retry) =>
  h("div", { class: "notice bad", role: "alert" },
    h("p", {}, sentence(error.message)),
    retry && h("p", {}, h("button", { class: "button slim", type: "button", on: { click: retry } },
      "Try again")));

// The service speaks in small letters, as after a program's name.
export function sentence(text) {
  const said = String(text);
  return said.charAt(0).toUpperCase() + said.slice(1);
}

// Tell readers without eyes what changed.
export function say(text) {
  document.getElementById("said").textContent = text;
}
