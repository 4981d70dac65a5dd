/**
 * What of sessions is still to be sent: files beside the gateway's state, in order, each until it
 * arrived. The service knows by its offset what it has, so nothing comes twice, whoever is killed.
 * One that is refused waits with what follows it of its session, and holds up no other session.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { makeFolder, readJson, writeJson, writeNewJson } from "./files.js";
import { Refused, after } from "./service.js";

const MOST_WAITING = 64_000_000;
// What the service will not take however often it is asked. It names each such problem; another
// program that listens where it was, or a proxy before it, knows no such name.
const USELESS = new Set([400, 413, 415, 422]);
const NAMED = "/problems/";
const SWITCHED_OFF = `${NAMED}switched-off`;
const MOST_REFUSED = 200;
// Longer than one delivery may take: a lock that is older was left by who was killed.
const LOCK_MILLISECONDS = 60_000;
const DELIVERY_MILLISECONDS = 15_000;

export class Spool {
  constructor(folder, complain) {
    this.folder = path.join(folder, "spool");
    this.lock = path.join(folder, "drain.lock");
    this.counter = path.join(folder, "number.json");
    this.refused = path.join(folder, "refused.json");
    this.complain = complain;
  }

  /** Write down a capture; false where there is no room, nor `more`, and nothing was written: told. */
  add(item, more = 0) {
    makeFolder(this.folder);
    const waiting = this.#waiting();
    const size = waiting.reduce((sum, name) => sum + sizeOf(path.join(this.folder, name)), 0);
    if (size > MOST_WAITING + more) {
      const said = more ? "what a session ended with is not kept" : "what is said now stays in the session";
      this.complain(new Error(`${(MOST_WAITING + more) / 1e6} MB wait for the service: ${said}`));
      return false;
    }
    // Numbers, not dates: a clock that is set back changes no order.
    let number = Math.max(Number(readJson(this.counter)) || 0, ...waiting.map((one) => parseInt(one, 10)));
    do number++; while (!writeNewJson(this.#file(number, item), item));
    writeJson(this.counter, number);
    return true;
  }

  isEmpty() {
    return this.#waiting().length === 0;
  }

  /**
   * Send what waits, each session's in its order, until all is or the time is over. Sessions that
   * were refused before come last, and up to the first that is again: however many they are, they
   * cost one question. Throws what sending does but for refusals, which are complained of.
   */
  async drain(service, until) {
    if (this.isEmpty() || !this.#take()) return;
    try {
      const queues = this.#queues();
      const before = this.#readRefused().filter((name) => queues.has(name));
      const others = [...queues.keys()].filter((name) => !before.includes(name));
      for (const name of [...others, ...before]) {
        const isRefused = await this.#send(service, name, queues.get(name), until);
        if (isRefused && before.includes(name)) return;
      }
    } finally {
      fs.rmSync(this.lock, { force: true });
    }
  }

  /** Send what waits of a session; true where it is refused, or cannot be read now. */
  async #send(service, name, files, until) {
    for (const file of files) {
      if (performance.now() >= until) return false;
      fs.utimesSync(this.lock, new Date(), new Date());
      const text = this.#read(file);
      if (text === undefined) {
        this.#keepRefused(name, true);
        return true;
      }
      const item = parsed(text);
      try {
        // Half a file, of a disk that was full, says nothing: it can only go.
        const warnings = item ? await deliver(service, item, until) : [];
        warnings.forEach((warning) => this.complain(`session ${item.session}: ${warning}`));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (!isSwitchedOff(error)) this.complain(error);
        if (!isUseless(error) && !isSwitchedOff(error)) {
          this.#keepRefused(name, true);
          return true;
        }
      }
      fs.rmSync(file, { force: true });
      this.#keepRefused(name, false);
    }
    return false;
  }

  /** What a file says; undefined where it cannot be told now, as with too many files open: told. */
  #read(file) {
    try {
      return fs.readFileSync(file, "utf8");
    } catch (error) {
      this.complain(error);
      return undefined;
    }
  }

  /** What waits by its session, that with the oldest first. */
  #queues() {
    const queues = new Map();
    for (const name of this.#waiting()) {
      const file = path.join(this.folder, name);
      // Older versions wrote no session into a name.
      const session = /-(\w+)\.json$/.exec(name)?.[1] ?? nameOf(readJson(file) ?? {});
      queues.set(session, [...(queues.get(session) ?? []), file]);
    }
    return queues;
  }

  /** The sessions that are refused, that which was asked for last at the end. */
  #readRefused() {
    const names = readJson(this.refused);
    return Array.isArray(names) ? names : [];
  }

  #keepRefused(name, isRefused) {
    const before = this.#readRefused();
    const names = before.filter((one) => one !== name);
    if (isRefused) names.push(name);
    else if (names.length === before.length) return;
    writeJson(this.refused, names.slice(-MOST_REFUSED));
  }

  #waiting() {
    try {
      return fs.readdirSync(this.folder).filter((name) => /^\d+(-\w+)?\.json$/.test(name)).sort();
    } catch {
      return [];
    }
  }

  #file(number, item) {
    return path.join(this.folder, `${String(number).padStart(12, "0")}-${nameOf(item)}.json`);
  }

  /** Two that send at once could hand over the later part of a session first. */
  #take() {
    try {
      if (Date.now() - fs.statSync(this.lock).mtimeMs > LOCK_MILLISECONDS) fs.rmSync(this.lock);
    } catch {
      // Nobody holds it.
    }
    return writeNewJson(this.lock, process.pid);
  }
}

/** Send a capture; returns what the service warns of, having it. */
async function deliver(service, item, until) {
  const answer = await service.post("/observe", item, Math.min(until, after(DELIVERY_MILLISECONDS)));
  // Whoever answered so is not the service: a proxy, a page to log in.
  if (typeof answer?.offset !== "number") throw new Refused(502, "no answer of /observe");
  return Array.isArray(answer.warnings) ? answer.warnings : [];
}

function isUseless(refused) {
  return USELESS.has(refused.status) && refused.message.includes(NAMED);
}

/** Two that write at once are answered 409, too. */
function isSwitchedOff(refused) {
  return refused.status === 409 && refused.message.includes(SWITCHED_OFF);
}

/** What tells a capture's session from others, in the name of a file. */
function nameOf(item) {
  const told = JSON.stringify([item.session, item.agent]);
  return createHash("sha256").update(told).digest("hex").slice(0, 8);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sizeOf(file) {
  try {
    return fs.statSync(file).size;
  } catch {
    return 0;
  }
}
