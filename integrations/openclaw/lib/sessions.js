/**
 * What is remembered of a session: how much of it was captured, and what it was told.
 *
 * A gateway drops from the history what a plugin put before a prompt, and gives a session that was
 * reset the same id: both are made good here, from a file that outlives the gateway.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { makeFolder, readJson, writeJson } from "./files.js";

const MOST_SESSIONS = 300;
const MOST_NAME = 190;

export class Sessions {
  constructor(folder) {
    this.folder = path.join(folder, "sessions");
  }

  /** Return what is known of a session of an agent of the gateway. */
  read(agent, id) {
    const known = readJson(this.#file(agent, id));
    return known && known.id === id && known.agent === agent ? known : begun(agent, id, 0);
  }

  keep(session) {
    makeFolder(this.folder);
    const file = this.#file(session.agent, session.id);
    const isNew = !fs.existsSync(file);
    writeJson(file, session);
    if (isNew) this.#forgetOld();
  }

  /** End a session: one with the same id is another one from here on. */
  end(session) {
    this.keep(begun(session.agent, session.id, session.resets + 1));
  }

  #file(agent, id) {
    const name = createHash("sha256").update(`${agent}\n${id}`).digest("hex").slice(0, 32);
    return path.join(this.folder, `${name}.json`);
  }

  #forgetOld() {
    const names = fs.readdirSync(this.folder).filter((name) => /^\w+\.json$/.test(name));
    if (names.length <= MOST_SESSIONS) return;
    const files = names.map((name) => path.join(this.folder, name));
    const aged = files.map((file) => ({ file, at: fs.statSync(file).mtimeMs }));
    aged.sort((one, other) => one.at - other.at);
    for (const { file } of aged.slice(0, -MOST_SESSIONS)) fs.rmSync(file, { force: true });
  }
}

function begun(agent, id, resets) {
  return { agent, id, resets, offset: 0, last: "", at: 0, context: null, told: [], run: "" };
}

/** Return the name under which the service knows a session. */
export function nameOf(session) {
  const name = session.id.replace(/\s{1,200}/g, " ").slice(0, MOST_NAME);
  return session.resets ? `${name}.${session.resets}` : name;
}
