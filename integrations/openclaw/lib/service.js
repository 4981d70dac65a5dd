/** The way to the service: one request, a time by which it ends, JSON in and out. */

const MOST_ANSWER = 4_000_000;

/** The service answered, and it was no. */
export class Refused extends Error {
  constructor(status, said) {
    super(`the service answered ${status}: ${said.slice(0, 300)}`);
    this.status = status;
  }
}

/** A moment so many milliseconds from now, which no change of the clock moves. */
export function after(milliseconds) {
  return performance.now() + milliseconds;
}

/** Return a name as one part of a path; of dots alone it would lead elsewhere, however it is escaped. */
export function part(name) {
  if (/^\.{1,2}$/.test(name)) throw new Refused(404, "nothing has a name of dots");
  return encodeURIComponent(name);
}

export class Service {
  constructor(settings) {
    this.baseUrl = settings.baseUrl;
    this.headers = { "content-type": "application/json", "user-agent": "graph-memory-openclaw/0.1" };
    if (settings.apiKey) this.headers.authorization = `Bearer ${settings.apiKey}`;
  }

  /** Post a body and return the answer's; throws Refused, and past the time a TimeoutError. */
  post(path, body, until) {
    return this.#ask("POST", path, JSON.stringify(body), until);
  }

  /** @param {Record<string, unknown>} query those that are undefined are left out */
  get(path, query, until) {
    const told = Object.entries(query).filter(([, value]) => value !== undefined);
    return this.#ask("GET", `${path}?${new URLSearchParams(told)}`, undefined, until);
  }

  remove(path, query, until) {
    const told = Object.entries(query).filter(([, value]) => value !== undefined);
    return this.#ask("DELETE", `${path}?${new URLSearchParams(told)}`, undefined, until);
  }

  async #ask(method, path, body, until) {
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(until - performance.now())));
    // A key goes where its owner said, and nowhere that an answer points to.
    const asked = { method, headers: this.headers, body, signal, redirect: "error" };
    const answer = await fetch(this.baseUrl + path, asked);
    const text = await readBounded(answer);
    if (!answer.ok) throw new Refused(answer.status, text);
    return text ? JSON.parse(text) : {};
  }
}

async function readBounded(answer) {
  const parts = [];
  let size = 0;
  for await (const part of answer.body ?? []) {
    size += part.length;
    if (size > MOST_ANSWER) throw new Refused(502, "too long an answer");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
