// Requests to the service this page came from. The session is a cookie that scripts cannot read.

export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? `The service answered ${status}.`);
    this.status = status;
    this.code = String(body?.type ?? "").split(":").pop();
    this.body = body ?? {};
  }
}

async function read(response) {
  if (response.ok) return response;
  let body = null;
  try {
    body = await response.json();
  } catch { /* not JSON: the status says it */ }
  if (response.status === 401) document.dispatchEvent(new Event("signed-out"));
  throw new Problem(response.status, body);
}

async function send(method, path, options = {}) {
  let response;
  try {
    response = await fetch(path, { method, credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The service does not answer. Is it running?" });
  }
  return read(response);
}

const json = async (response) => (response.status === 204 ? null : (await response).json());

export const get = async (path, options) => json(await send("GET", path, options));
export const remove = async (path) => json(await send("DELETE", path));

export async function post(path, body, headers = {}) {
  const init = body === undefined ? { headers } : {
    headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body),
  };
  return json(await send("POST", path, init));
}

// A key that makes a repeated request harmless.
export function newKey() {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (b) => b.toString(16).padStart(2, "0")).join("");
}

export const query = (params) => {
  const given = Object.entries(params).filter(([, v]) => v !== null && v !== undefined && v !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

// A path that may have parameters already, with more of them.
export const extend = (path, params) => {
  const more = query(params);
  return path.includes("?") ? path + more.replace("?", "&") : path + more;
};

export const signIn = (key) => post("/v1/session", undefined, { Authorization: `Bearer ${key}` });

// All datasets by id; lists of a few hundred, so a page or two.
export async function datasetsById() {
  const found = new Map();
  let cursor = null;
  do {
    const page = await get(`/v1/datasets${query({ limit: 200, cursor })}`);
    for (const dataset of page.items) found.set(dataset.id, dataset);
    cursor = page.next_cursor;
  } while (cursor && found.size < 2000);
  return found;
}

// A name with the characters that the service takes; the ending stays.
function plainName(name) {
  const plain = name.replace(/[^A-Za-z0-9_. -]/g, "_");
  return /^[A-Za-z0-9_]/.test(plain) ? plain : `_${plain}`;
}

// A file, with the share that has arrived: fetch cannot tell that.
export function upload(file, onShare) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/v1/uploads${query({ filename: plainName(file.name) })}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => onShare(event.loaded / event.total));
    request.addEventListener("load", () => {
      if (request.status === 201) resolve(request.response);
      else reject(new Problem(request.status, request.response));
    });
    request.addEventListener("error", () =>
      reject(new Problem(0, { detail: "The upload was cut off: try again." })));
    request.send(file);
  });
}
