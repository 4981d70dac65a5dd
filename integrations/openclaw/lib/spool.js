/**
 * What of sessions is still to be sent: files beside the gateway's state, in order, each until it
 * arrived. The service knows by its offset what it has, so nothing comes twice, whoever is killed.
 */
import fs from "node:fs";
import path from "node:path";
import { makeFolder, readJson, writeJson, writeNewJson } from "./files.js";
import { Refused, after } from "./service.js";

const MOST_WAITING = 64_000_000;
// What the service will not take however often it is asked.
const USELESS = new Set([400, 404, 409, 413, 415, 422]);
// Longer than one delivery may take: a lock that is older was left by who was killed.
const LOCK_MILLISECONDS = 60_000;
const DELIVERY_MILLISECONDS = 15_000;

export class Spool {
  constructor(folder, complain) {
    this.folder = path.join(folder, "spool");
    this.lock = path.join(folder, "drain.lock");
    this.counter = path.join(folder, "number.json");
    this.complain = complain;
  }

  /** Write down a capture; false where there is no room, and nothing was written. */
  add(item) {
    makeFolder(this.folder);
    const waiting = this.#waiting();
    const size = waiting.reduce((sum, name) => sum + sizeOf(path.join(this.folder, name)), 0);
    if (size > MOST_WAITING) return false;
    // Numbers, not dates: a clock that is set back changes no order.
    let number = Math.max(Number(readJson(this.counter)) || 0, ...waiting.map((one) => parseInt(one, 10)));
    do number++; while (!writeNewJson(this.#file(number), item));
    writeJson(this.counter, number);
    return true;
  }

  isEmpty() {
    return this.#waiting().length === 0;
  }

  /** Send what waits, the oldest first, until all is or the time is over; throws what sending does. */
  async drain(service, until) {
    if (this.isEmpty() || !this.#take()) return;
    try {
      for (const name of this.#waiting()) {
        if (performance.now() >= until) return;
        fs.utimesSync(this.lock, new Date(), new Date());
        const file = path.join(this.folder, name);
        const item = readJson(file);
        // Half a file, of a disk that was full, says nothing: it can only go.
        if (item) await this.#deliver(service, item, until);
        fs.rmSync(file, { force: true });
      }
    } finally {
      fs.rmSync(this.lock, { force: true });
    }
  }

  async #deliver(service, item, until) {
    try {
      const answer = await service.post("/observe", item, Math.min(until, after(DELIVERY_MILLISECONDS)));
      // Whoever answered so is not the service: a proxy, a page to log in.
      if (typeof answer?.offset !== "number") throw new Refused(502, "no answer of /observe");
    } catch (error) {
      if (!(error instanceof Refused) || !USELESS.has(error.status)) throw error;
      if (error.status !== 409) this.complain(error);
    }
  }

  #waiting() {
    try {
      return fs.readdirSync(this.folder).filter((name) => /^\d+\.json$/.test(name)).sort();
    } catch {
      return [];
    }
  }

  #file(number) {
    return path.join(this.folder, `${String(number).padStart(12, "0")}.json`);
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

function sizeOf(file) {
  try {
    return fs.statSync(file).size;
  } catch {
    return 0;
  }
}
