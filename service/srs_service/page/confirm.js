// A question before something that cannot be undone.

import { h, problem } from "./dom.js";

// Resolves to whether it was done; an error of `act` is shown in the dialog.
export function confirm(title, text, verb, act) {
  return new Promise((resolve) => {
    const said = h("div");
    const yes = h("button", { class: "button bad", type: "button" }, verb);
    const no = h("button", { class: "button", type: "button", autofocus: true }, "Keep");
    const dialog = h("dialog", { "aria-labelledby": "confirm-title" },
      h("h2", { id: "confirm-title" }, title), h("p", {}, text), said,
      h("div", { class: "actions" }, no, yes));
    const end = (done) => {
      dialog.close();
      dialog.remove();
      resolve(done);
    };
    no.addEventListener("click", () => end(false));
    dialog.addEventListener("cancel", () => end(false));
    yes.addEventListener("click", async () => {
      yes.disabled = true;
      try {
        await act();
        end(true);
      } catch (error) {
        yes.disabled = false;
        said.replaceChildren(problem(error));
      }
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
