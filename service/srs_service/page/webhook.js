// Where to tell of the end of a job: an address, and a secret that signs the message.

import { newKey } from "./api.js";
import { field, h } from "./dom.js";

export class WebhookFields {
  constructor() {
    this.url = h("input", { type: "url", name: "webhook-url", maxlength: 2000, autocomplete: "off", pattern: "https?://.+",
      title: "An address that starts with https://" });
    this.secret = h("input", { name: "webhook-secret", minlength: 16, maxlength: 200, autocomplete: "off",
      spellcheck: "false", pattern: "[!-~]+", title: "16 characters or more, without spaces" });
    this.url.addEventListener("input", () => {
      this.secret.required = Boolean(this.url.value.trim());
      if (this.secret.required && !this.secret.value) this.secret.value = newKey();
    });
    this.node = h("div", { class: "fields" },
      field("Webhook address", this.url, "Gets a POST when the job has ended. Empty: none."),
      field("Webhook secret", this.secret, "Signs the message (Srs-Signature). Configure the same secret on the receiver."));
  }

  read() {
    const url = this.url.value.trim();
    return url ? { url, secret: this.secret.value } : null;
  }
}
