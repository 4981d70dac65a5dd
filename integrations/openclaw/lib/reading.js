/** Searches and reads as OpenClaw's own memory tools shape them. */
import { after } from "./service.js";
import { nameOf } from "./sessions.js";

export const TOOL_MILLISECONDS = 10_000;
const MOST_RESULTS = 20;
const MOST_SNIPPET = 700;
const MOST_HEADING = 200;
const BELOW = " › ";
const MOST_TEXT = 20_000;
const MOST_LINES = 2000;
const OWN_PATH = /^memory:([\w-]{1,100})$/;

export class SwitchedOff extends Error {
  constructor() {
    super("Memory is switched off here.");
  }
}

/** Return where a tool is used; throws where there is no memory. */
export function placeFor(memory, ctx) {
  const place = memory.placeOf(ctx);
  if (!place) throw new SwitchedOff();
  return place;
}

/** What every question says: whose memory, which project, and which session is given its answers. */
export function asking(memory, place) {
  const { agent, project, gatewayAgent, sessionId } = place;
  if (!sessionId) return { agent, project };
  const session = nameOf(memory.sessions.read(gatewayAgent, sessionId));
  return { agent, project, session, new_only: false };
}

/** Return the hits of a question, but those that were read from ignored files. */
export async function hits(memory, ctx, query, limit, path = "/search", more = {}) {
  const place = placeFor(memory, ctx);
  const most = Math.min(MOST_RESULTS, Math.max(1, Math.trunc(limit) || 5));
  const body = { query, limit: most, ...asking(memory, place), ...more };
  const answer = await memory.service.post(path, body, after(TOOL_MILLISECONDS));
  return (answer.results ?? []).filter((hit) => !hit.source?.uri || !place.excludes(hit.source.uri));
}

/** @returns results in memory-core's shape */
export async function search(memory, ctx, { query, maxResults, minScore }) {
  const found = (await hits(memory, ctx, query, maxResults ?? 5)).map(resultOf);
  return typeof minScore === "number" ? found.filter((one) => one.score >= minScore) : found;
}

function resultOf(hit) {
  const { uri, line_start: startLine, line_end: endLine } = hit.source ?? {};
  const path = uri ?? `memory:${hit.id}`;
  const snippet = (hit.content ?? hit.snippet ?? "").slice(0, MOST_SNIPPET);
  const title = headingOf(hit, snippet) || undefined;
  const lines = startLine ? { startLine, endLine: endLine ?? startLine } : { startLine: 1, endLine: 1 };
  return {
    path, ...lines, id: hit.id, title, score: Math.min(1, Math.max(0, hit.score)),
    snippet: marked(hit, snippet), source: "memory",
    citation: startLine ? `${path}#L${lines.startLine}-L${lines.endLine}` : path,
    updatedAt: hit.occurred_at,
  };
}

/**
 * Return the headings above a text on one line, the outermost first: "Context" alone does not say of what, and one of
 * them may say "(superseded)". A memory without a title has its own beginning for one, without marks: it is not said twice.
 */
export function headingOf(hit, text) {
  const path = hit.heading_path ?? [];
  const title = hit.title ?? "";
  // A record is called by the heading above its "Decision", which is left out.
  const own = path.findIndex((one) => title === one || title.startsWith(`${one} (`));
  const every = new Set([...(own < 0 ? path : path.slice(0, own)), title, ...(hit.search_headings ?? [])]);
  const told = [...every].filter((one) => one && !bare(text).startsWith(bare(one.replace(/…$/, ""))));
  return told.join(BELOW).replace(/\s+/g, " ").slice(0, MOST_HEADING);
}

/** Return words of a memory as a model is told them: of those that nobody trusted it says so. */
export function marked(memory, words) {
  const isTrusted = (memory.trust_tier ?? "trusted") === "trusted";
  return isTrusted ? words : `[${memory.trust_tier}] ${words}`;
}

function bare(text) {
  return text.replace(/[*`]/g, "").replace(/^[\s#>-]+/, "").replace(/\s+/g, " ").trim();
}

/** Read a memory by the path that a search gave it, or lines of a document. */
export async function get(memory, ctx, { path, from, lines }) {
  const place = placeFor(memory, ctx);
  const own = OWN_PATH.exec(path);
  if (!own && place.excludes(path)) throw new SwitchedOff();
  const until = after(TOOL_MILLISECONDS);
  if (own) {
    const read = await memory.service.get(`/memories/${own[1]}`, { agent: place.agent }, until);
    if (read.source?.uri && place.excludes(read.source.uri)) throw new SwitchedOff();
    return { path, text: marked(read, read.content.slice(0, MOST_TEXT)) };
  }
  const asked = { agent: place.agent, path, from: from ?? 1, lines: Math.min(MOST_LINES, lines ?? 200) };
  const read = await memory.service.get("/documents", asked, until);
  return { path, text: marked(read, read.text.slice(0, MOST_TEXT)) };
}
