/** What all hooks and tools of the plugin have: settings, the way to the service, its files. */
import os from "node:os";
import path from "node:path";
import { anyMatches } from "./globs.js";
import { readJson } from "./files.js";
import { findPlace } from "./place.js";
import { Service, after } from "./service.js";
import { readSettings } from "./settings.js";
import { Sessions } from "./sessions.js";
import { Spool } from "./spool.js";

const PLUGIN = "graph-memory";
// Of `graph-memory connect`: where the service is, and the key.
const CONNECTION = "client.json";
// A service that does not answer delays no turn again for so long.
const REST_MILLISECONDS = 30_000;
const QUIET_MILLISECONDS = 600_000;
const WAKE_MILLISECONDS = 2000;
const BRIEF_MILLISECONDS = 700;
/** One for all registrations of a process, and for the plugin in the slot. */
const resting = new Map();

export class Memory {
  constructor(settings, folder, logger) {
    this.settings = settings;
    this.logger = logger;
    this.service = new Service(settings);
    this.sessions = new Sessions(folder);
    this.spool = new Spool(folder, (error) => this.complain(error));
    this.workspaces = new Map();
  }

  /** @param api what a gateway gives a plugin to register with */
  static of(api) {
    const entry = api.config?.plugins?.entries?.[PLUGIN]?.config ?? {};
    const folder = path.join(stateFolder(api), PLUGIN);
    const connection = readJson(path.join(folder, CONNECTION));
    const settings = readSettings({ ...entry, ...(api.pluginConfig ?? {}) }, connection);
    const memory = new Memory(settings, folder, api.logger);
    memory.config = api.config;
    // One memory for all agents of the gateway, where whoever connected it said so.
    if (typeof connection?.agent === "string") memory.agent = connection.agent;
    if (settings.isKeyUnresolved) memory.complain(new Error("the key is a reference that was not resolved"));
    return memory;
  }

  /**
   * Return where a hook or a tool is: whose memory, which project; null where there is none, with
   * `orOff` alone where nobody may know it: what is said where memory is off must be passed over.
   */
  placeOf(ctx, { orOff = false } = {}) {
    const key = typeof ctx.sessionKey === "string" ? ctx.sessionKey : "";
    // Only tools are told who asks.
    if (ctx.senderIsOwner === false) return null;
    if (anyMatches(this.settings.ignoreSessions, key)) return null;
    const gatewayAgent = ctx.agentId ?? /^agent:([^:]{1,100}):/.exec(key)?.[1] ?? "main";
    const complain = (error) => this.complain(error);
    const place = findPlace(this.#workspaceOf(gatewayAgent, ctx), this.settings, complain);
    if (!place && !orOff) return null;
    const agent = this.settings.agents.get(gatewayAgent) ?? place?.agent ?? this.agent ?? gatewayAgent;
    const isToolsOnly = anyMatches(this.settings.toolsOnlySessions, key);
    const isOff = !place;
    return { ...place, isOff, agent, gatewayAgent, sessionId: ctx.sessionId ?? key, isToolsOnly };
  }

  /** A hook of a session's start names no workspace, and a tool may not: the last one is meant. */
  #workspaceOf(agent, ctx) {
    if (ctx.workspaceDir) this.workspaces.set(agent, ctx.workspaceDir);
    const told = this.config?.agents;
    const listed = told?.list?.find?.((one) => one?.id === agent) ?? told?.entries?.[agent];
    return this.workspaces.get(agent) ?? listed?.workspace ?? told?.defaults?.workspace;
  }

  /** Have notes read that changed, because a session begins; nobody waits for it. */
  async wake(ctx) {
    if (!this.placeOf(ctx) || this.isResting()) return;
    const body = { event: "session_start", agent_id: ctx.agentId, session_key: ctx.sessionKey };
    this.service.post("/hooks/session-start", body, after(WAKE_MILLISECONDS)).catch((error) => {
      // A key that is for another agent than the one whose notes those are.
      if (error.status !== 403) this.complain(error);
    });
  }

  /** Send what waits while a turn does: what was told while the service was away may be asked for now. */
  async drainBriefly(until = Infinity) {
    try {
      await this.spool.drain(this.service, Math.min(until, after(BRIEF_MILLISECONDS)));
    } catch (error) {
      // A drain that took its time says nothing of the service: its questions are short.
      if (error?.name !== "TimeoutError") this.complain(error);
    }
  }

  isResting() {
    return performance.now() < (resting.get(this.settings.baseUrl) ?? 0);
  }

  /** Tell the log what went wrong, once in a while, and leave a service alone that hangs. */
  complain(error) {
    const cause = error?.cause?.code ?? error?.cause?.message;
    const told = `${error?.message ?? error}${cause ? ` (${cause})` : ""}`;
    if (error?.name === "TimeoutError") {
      resting.set(this.settings.baseUrl, after(REST_MILLISECONDS));
    }
    const now = performance.now();
    if (now < (complaints.get(told) ?? 0)) return;
    complaints.set(told, now + QUIET_MILLISECONDS);
    this.logger?.warn?.(`graph-memory: ${told}`);
  }
}

const complaints = new Map();

function stateFolder(api) {
  const resolve = api.runtime?.state?.resolveStateDir;
  const found = typeof resolve === "function" ? resolve() : undefined;
  return found || path.join(os.homedir(), ".openclaw");
}

/** Forget which services did not answer; for tests. */
export function forgetRest() {
  resting.clear();
  complaints.clear();
}
