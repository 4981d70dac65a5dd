/** What a turn is told: the session's context, and memories that answer its prompt. */
import { after } from "./service.js";
import { nameOf } from "./sessions.js";

const MOST_PROMPT = 10_000;
// With less than such a part of its room left a request begins anew, with so much of what it had.
const LEAST_PART = 3;

/**
 * A gateway asks with each turn what to put around its prompt, and keeps none of it in the history:
 * so all that this session was told is given again, the same bytes, each memory once.
 */
export async function recall(memory, event, ctx) {
  const place = memory.placeOf(ctx);
  if (!place || place.isToolsOnly || !place.sessionId) return undefined;
  const isPrompt = (ctx.trigger ?? "user") === "user";
  const run = event.currentUserMessageId ?? ctx.runId ?? "";
  let session = memory.sessions.read(place.gatewayAgent, place.sessionId);
  // A turn that is prepared anew, after an error or a summary, is told the same.
  const isAgain = Boolean(run) && session.run === run;
  if (isPrompt && !isAgain && !memory.isResting()) {
    const until = after(memory.settings.timeoutMs);
    await memory.drainBriefly(until);
    session = await asked(memory, place, promptOf(event), until, run);
  }
  return replyOf(session, event);
}

async function asked(memory, place, prompt, until, run) {
  const { settings, sessions } = memory;
  const session = sessions.read(place.gatewayAgent, place.sessionId);
  const tell = (event, more, chars) => told(memory, place, session, event, more, chars, until);
  try {
    // What leaves the request must be told again: to the service it is as if it were summed up.
    const isOver = roomFor(session, settings) < settings.recallChars / LEAST_PART;
    if (session.context === null || isOver) {
      const source = isOver ? "compact" : "startup";
      const reply = await tell("session_start", { source }, settings.contextChars);
      session.context = textOf(reply.appendSystemContext, settings.contextChars);
      session.told = bounded(session.told, settings.recallChars / LEAST_PART);
    }
    if (prompt) {
      const room = roomFor(session, settings);
      const reply = await tell("before_prompt_build", { prompt }, room);
      const text = textOf(reply.prependContext, room);
      if (text) session.told = [...withoutLines(session.told, text), text];
    }
    session.run = run;
  } catch (error) {
    memory.complain(error);
  }
  // What a capture noted meanwhile stays.
  const { context, told: all, run: last } = session;
  const now = { ...sessions.read(place.gatewayAgent, place.sessionId), context, told: all, run: last };
  sessions.keep(now);
  return now;
}

function told(memory, place, session, event, more, maxChars, until) {
  const own = { agent: place.agent, project: place.project, max_chars: maxChars };
  const body = { event, agent_id: place.agent, session_id: nameOf(session), graph_memory: own, ...more };
  return memory.service.post("/hooks/openclaw", body, until);
}

function promptOf(event) {
  const prompt = event.currentUserMessage ?? event.prompt;
  return typeof prompt === "string" ? prompt.slice(-MOST_PROMPT).trim() : "";
}

/** A block that is longer than it may be is none: half of one has no end. */
function textOf(text, most) {
  return typeof text === "string" && text.length <= most ? text : "";
}

function roomFor(session, settings) {
  return settings.recallChars - session.told.reduce((size, text) => size + text.length + 1, 0);
}

/** Return texts without the memories that another one has too, and without those left with none. */
function withoutLines(texts, other) {
  const lines = new Set(other.split("\n").filter(isMemory));
  const left = texts.map((text) => text.split("\n").filter((line) => !lines.has(line)));
  return left.filter((kept) => !lines.size || kept.some(isMemory)).map((kept) => kept.join("\n"));
}

function isMemory(line) {
  return line.startsWith("- ");
}

function bounded(texts, most) {
  let size = 0;
  const kept = [];
  for (const text of texts.toReversed()) {
    size += text.length;
    if (size > most) break;
    kept.unshift(text);
  }
  return kept;
}

function replyOf(session, event) {
  const history = JSON.stringify(event.messages ?? []);
  // A gateway that keeps what it was given needs it no second time.
  const missing = session.told.filter((text) => !history.includes(JSON.stringify(text).slice(1, -1)));
  const reply = {};
  if (session.context) reply.appendSystemContext = session.context;
  if (missing.length) reply.prependContext = missing.join("\n");
  return Object.keys(reply).length ? reply : undefined;
}
