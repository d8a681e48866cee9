// Which kinds of evidence and of target there are: the service's to say, asked once.

import { get } from "./api.js";

let asked = null;
let known = { evidence: [], targets: [] };

export function kinds() {
  asked ??= get("/v1/kinds").then((answer) => (known = answer), (error) => {
    asked = null; // ask again the next time
    throw error;
  });
  return asked;
}

// What a kind of evidence means, for views that have asked; of one that is not known, its name.
export const evidenceTitle = (name) => known.evidence.find((kind) => kind.name === name)?.title ?? name;
