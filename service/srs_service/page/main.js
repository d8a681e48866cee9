// The frame of all views: who is signed in, which view an address means, focus and titles.

import { get, remove, signIn } from "./api.js";
import { field, h, loading, problem, sentence } from "./dom.js";
import { datasetsView } from "./datasets.js";
import { explainView } from "./explain.js";
import { jobView } from "./job.js";
import { jobsView } from "./jobs.js";
import { newDatasetView } from "./new-dataset.js";
import { selectView } from "./select.js";

// Each view: (matched parts, parameters) -> {title, node, close?}
const VIEWS = [
  [/^\/jobs$/, jobsView], [/^\/jobs\/(j_[0-9a-f]{32})$/, jobView],
  [/^\/datasets$/, datasetsView], [/^\/datasets\/new$/, newDatasetView],
  [/^\/select$/, selectView], [/^\/explain$/, explainView],
];
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const who = document.getElementById("who");
let shown = null;
let session = null;
let turn = 0;

async function route() {
  const [path, text] = (location.hash.slice(1) || "/jobs").split("?");
  const mine = (turn += 1);
  shown?.close?.();
  shown = null;
  if (session === null && !(await findSession())) return;
  if (mine !== turn) return;
  markNav(path);
  const waiting = setTimeout(() => mine === turn && main.replaceChildren(loading()), 150);
  try {
    const [match, view] = find(path);
    const made = await view(match.slice(1), new URLSearchParams(text));
    if (mine !== turn) return void made.close?.();
    shown = made;
    show(made.title, made.node);
  } catch (error) {
    if (mine === turn) show("Something went wrong", h("div", {}, heading("Something went wrong"),
      problem(error, route)));
  } finally {
    clearTimeout(waiting);
  }
}

function find(path) {
  for (const [pattern, view] of VIEWS) {
    const match = path.match(pattern);
    if (match) return [match, view];
  }
  throw new Error("There is no such page.");
}

const heading = (text) => h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, text)));

function show(title, node) {
  document.title = `${title} · srs`;
  main.replaceChildren(node);
  main.querySelector("h1")?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function markNav(path) {
  nav.hidden = false;
  for (const link of nav.children) {
    const to = link.getAttribute("href").slice(1);
    const here = path === to || (path.startsWith(`${to}/`));
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// -- the session ----------------------------------------------------------------------------

async function findSession() {
  try {
    session = await get("/v1/session");
  } catch (error) {
    if (error.status === 401) showSignIn();
    else show("No answer", h("div", {}, heading("The service cannot be used now"), problem(error, route)));
    return false;
  }
  showWho();
  return true;
}

function showWho() {
  const out = h("button", { class: "button slim", type: "button", on: { click: async () => {
    await remove("/v1/session").catch(() => {});
    session = null;
    showSignIn();
  } } }, "Sign out");
  who.replaceChildren(h("span", {}, h("span", { class: "unseen" }, "Signed in as "), h("bdi", {}, session.user)),
    session.user === "local" ? "" : out);
}

function showSignIn() {
  turn += 1;
  shown?.close?.();
  shown = null;
  nav.hidden = true;
  who.replaceChildren();
  const key = h("input", { type: "password", name: "key", autocomplete: "current-password", required: true,
    spellcheck: "false", autocapitalize: "off" });
  const wrong = h("div");
  const form = h(
    "form", { class: "panel signin", on: { submit: async (event) => {
      event.preventDefault();
      try {
        await signIn(key.value.trim());
        session = null;
        await route();
      } catch (error) {
        const text = error.status === 401 ? "This key is not valid: it may be mistyped, expired or revoked."
          : sentence(error.message);
        wrong.replaceChildren(h("p", { class: "notice bad", role: "alert" }, text));
        key.setAttribute("aria-invalid", "true");
        key.focus();
      }
    } } },
    h("h1", { tabindex: "-1" }, "Sign in"),
    h("p", { class: "quiet" }, "Find the features that matter, in data larger than memory."), wrong,
    h("input", { name: "user", autocomplete: "username", value: "srs", hidden: true }),
    field("API key", key, "Your administrator makes one with `srs keys create`. It is exchanged for a " +
      "session, and this page does not keep it."),
    h("button", { class: "button first", type: "submit" }, "Sign in"),
  );
  show("Sign in", form);
  key.focus();
}

document.addEventListener("signed-out", () => {
  if (session !== null) {
    session = null;
    showSignIn();
  }
});
window.addEventListener("hashchange", (event) => {
  if (new URL(event.newURL).hash !== "#main") route();
});
route();
