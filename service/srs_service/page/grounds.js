// What to know of a list: cautions, what it promises, which kinds of evidence counted.

import { h, name } from "./dom.js";
import { evidenceTitle } from "./kinds.js";
import { count, number, probability } from "./text.js";

const percent = (share) => `${number(Number((100 * share).toPrecision(3)))} %`;

export const cautionsPart = ({ outcome }) => (outcome.cautions?.length
  ? h("section", { class: "notice wait", "aria-labelledby": "cautions-title" },
    h("h2", { id: "cautions-title" }, "Before you trust this list"),
    outcome.cautions.map((one) => h("p", {}, name(one.sentence))))
  : null);

// What an arrow up means in the table of features.
export function directionMeaning({ data, outcome }) {
  const what = data.labels.length === 2 ? ["the class ", name(outcome.scan?.group ?? data.labels[1]), " is more frequent"]
    : [data.target_kind === "survival" ? "the event comes earlier" : "the target is larger"];
  return h("p", { class: "quiet small" }, "Direction ↑: ", what, " where the feature is larger; ↓: where it is " +
    "smaller. By itself, from 0 to 1.");
}

function promise({ settings, outcome }) {
  if (settings.mode === "paper") {
    return "Paper mode: a feature is listed if it beat a random probe often enough. This rule does not control the " +
      "false discovery rate.";
  }
  if (typeof settings.n_features === "number") {
    const cut = Math.max(...outcome.relevant.map((row) => row.q_value));
    return `A fixed number of ${count(settings.n_features, "feature")} was asked for; there is no promise on how ` +
      `many are false. The q-value at that cut is ${Number.isFinite(cut) ? probability(cut) : "not known"}.`;
  }
  const rate = percent(settings.fdr);
  const mean = `In the mean over lists, at most ${rate} of the listed features are false.`;
  const factor = "Where many features follow a common factor (a batch, ancestry, cell composition), false features " +
    "come together: most lists have none, a few have many.";
  return settings.guarantee === "confident"
    ? `${mean} For this list, too: either at most three quarters of a false feature are expected in all, or the ` +
      `share is at most ${rate} with 95 % confidence, if features are not strongly dependent. ${factor}`
    : `${mean} A single list may have more. ${factor}`;
}

export function groundsPart(result) {
  const { kinds = [], left_out: leftOut = [] } = result.outcome.grounds;
  const from = (kind) => (kind.n_feature_classes ? "compared with probes" : "a test of its own, without probes");
  return h("section", { class: "panel", "aria-labelledby": "grounds-title" },
    h("h2", { id: "grounds-title" }, "What the list promises"), h("p", {}, promise(result)),
    (kinds.length || leftOut.length) && h("details", {}, h("summary", {}, "Evidence that counted"),
      kinds.length && h("p", { class: "quiet small" }, "Each kind of evidence gives a p-value. They are combined by " +
        "the Cauchy rule with these weights; a kind that finds many features gets more weight."),
      h("dl", { class: "facts small" },
        kinds.map((kind) => [h("dt", {}, kind.kind),
          h("dd", {}, `${percent(kind.weight)} · ${evidenceTitle(kind.kind)} · ${from(kind)}`)]),
        leftOut.map((one) => [h("dt", {}, one.kind), h("dd", {}, "Took no part: ", name(one.reason))]))));
}
