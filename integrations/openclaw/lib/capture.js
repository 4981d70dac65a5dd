/** What a session said since the last time, written down and then sent. */
import { createHash } from "node:crypto";
import { withoutIgnored } from "./left-out.js";
import { after } from "./service.js";
import { nameOf } from "./sessions.js";

const CAPTURE_MILLISECONDS = 8000;
const CLOSE_MILLISECONDS = 900;
const MOST_ITEM_CHARACTERS = 1_500_000;
const MOST_ITEM_ENTRIES = 500;
// There is no next time after a session's end: past the room of the spool it has some of its own.
const ROOM = 16_000_000;
const MOST_SAID = 200_000;
// The end of an output says most.
const MOST_OUTPUT = 20_000;
const MOST_ARGUMENTS = 20_000;
/** After these ends of a session nothing of it goes on. */
const ENDS = new Set(["new", "reset", "idle", "daily", "deleted"]);
const TAIL = { maxMessages: 500, maxBytes: 4_000_000 };

/** A turn is over: take down what is new in the session's messages, and send it. */
export async function capture(memory, event, ctx, { isEnd = false } = {}) {
  const place = memory.placeOf(ctx, { orOff: true });
  if (!place || place.isToolsOnly || !place.sessionId || !Array.isArray(event.messages)) return;
  takeDown(memory, place, event.messages, { isWanted: !place.isOff && isSaidByPerson(ctx), isEnd });
  if (isEnd || place.isOff) return;
  // Some gateways wait for this: a service that was too slow for a prompt is given little time.
  if (memory.isResting()) await memory.drainBriefly();
  else await memory.spool.drain(memory.service, after(CAPTURE_MILLISECONDS));
}

/** A session ended: its handoff is made, and what comes under its id is another session. */
export async function close(memory, event, ctx) {
  const place = memory.placeOf({ ...ctx, sessionId: event.sessionId ?? ctx.sessionId });
  if (!place || place.isToolsOnly || !place.sessionId || !ENDS.has(event.reason)) return;
  const until = after(CLOSE_MILLISECONDS);
  const tail = ctx.endedTranscript?.available ? await ctx.endedTranscript.readTail(TAIL) : null;
  const messages = Array.isArray(tail) ? tail : tail?.messages;
  if (Array.isArray(messages)) takeDown(memory, place, messages, { isWanted: true, isEnd: true });
  const session = memory.sessions.read(place.gatewayAgent, place.sessionId);
  if (session.offset) memory.spool.add({ ...itemOf(place, session), entries: [], final: true }, ROOM);
  memory.sessions.end(session);
  if (!memory.isResting()) await memory.spool.drain(memory.service, until);
}

/** Heartbeats, cron jobs and other sessions' messages are nobody's words. */
function isSaidByPerson(ctx) {
  const kind = ctx.inputProvenance?.kind ?? "external_user";
  return kind === "external_user" && (ctx.trigger ?? "user") === "user";
}

function takeDown(memory, place, messages, { isWanted, isEnd }) {
  const session = memory.sessions.read(place.gatewayAgent, place.sessionId);
  const fresh = messages.slice(firstNew(messages, session));
  if (!fresh.length) return;
  const entries = isWanted ? keptOf(messages, fresh, place) : [];
  for (const part of parts(entries)) {
    // Without room it stays in the session, for the next time.
    if (!memory.spool.add({ ...itemOf(place, session), entries: part }, isEnd ? ROOM : 0)) return;
    session.offset += part.length;
  }
  session.last = markOf(fresh.at(-1));
  // Not the latest of all: one of a clock that was ahead would hide what comes after.
  session.at = fresh.reduce((latest, message) => Math.max(latest, momentOf(message)), 0);
  memory.sessions.keep(session);
}

/** Whole messages are looked at: of a shortened one nobody sees what it names. */
function keptOf(messages, fresh, place) {
  return withoutIgnored(messages, fresh, place).map(entryOf).filter(Boolean);
}

function itemOf(place, session) {
  const { agent, project } = place;
  return { session: nameOf(session), client: "openclaw", agent, project, offset: session.offset };
}

/**
 * Return where the messages begin that were not taken down yet. Where a gateway summed up what
 * came before, the last one is not among them any more: then its time says it, and where the clock
 * was set back since, what a person said last, as a turn just went by.
 */
export function firstNew(messages, session) {
  if (!session.last) return 0;
  for (let place = messages.length - 1; place >= 0; place--) {
    if (markOf(messages[place]) === session.last) return place + 1;
  }
  const found = messages.findIndex((message) => momentOf(message) > session.at);
  return found >= 0 ? found : lastSaid(messages);
}

function lastSaid(messages) {
  const found = messages.findLastIndex((message) => message?.role === "user");
  return found < 0 ? messages.length : found;
}

/** A message of a person gets another time and shape when it is stored: its words say which it is. */
export function markOf(message) {
  const isAnswer = message?.role !== "user";
  const text = textsOf(message?.content).replace(/\r\n/g, "\n");
  const told = [message?.role, isAnswer ? momentOf(message) : 0, text];
  return createHash("sha256").update(JSON.stringify(told)).digest("hex").slice(0, 32);
}

function momentOf(message) {
  return Number.isFinite(message?.timestamp) ? message.timestamp : 0;
}

function textsOf(content) {
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? content : [];
  return blocks.map((block) => (typeof block?.text === "string" ? block.text : "")).join("\n");
}

/** Return what is sent of a message; nothing of what is no message. */
function entryOf(message) {
  if (!message || typeof message !== "object" || typeof message.role !== "string") return null;
  if (message.__openclaw?.senderIsOwner === false) return null;
  const most = message.role === "toolResult" || message.role === "tool" ? -MOST_OUTPUT : MOST_SAID;
  const { role, timestamp, toolCallId, toolName, isError } = message;
  return { role, timestamp, toolCallId, toolName, isError, content: contentOf(message.content, most) };
}

function contentOf(content, most) {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return (Array.isArray(blocks) ? blocks : []).map((block) => blockOf(block, most)).filter(Boolean);
}

/** Thoughts, pictures and signatures stay here. */
function blockOf(block, most) {
  if (block?.type === "text" && typeof block.text === "string") {
    return { type: "text", text: most < 0 ? block.text.slice(most) : block.text.slice(0, most) };
  }
  if (block?.type !== "toolCall") return null;
  const { type, id, name } = block;
  const isShort = JSON.stringify(block.arguments ?? {}).length <= MOST_ARGUMENTS;
  return { type, id, name, arguments: isShort ? block.arguments : shortened(block.arguments) };
}

function shortened(given) {
  const pairs = Object.entries(given ?? {}).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(pairs.slice(0, 50).map(([name, value]) => [name, value.slice(0, 300)]));
}

/** Return entries in parts that the service takes at once. */
function parts(entries) {
  const found = [];
  let size = Infinity;
  for (const entry of entries) {
    const more = JSON.stringify(entry).length;
    if (size + more > MOST_ITEM_CHARACTERS || found.at(-1)?.length >= MOST_ITEM_ENTRIES) {
      found.push([]);
      size = 0;
    }
    found.at(-1).push(entry);
    size += more;
  }
  return found;
}
