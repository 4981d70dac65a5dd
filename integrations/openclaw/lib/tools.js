/** The tools: what they take and say is what agents know from other memories of OpenClaw. */
import { asking, get, headingOf, hits, marked, placeFor, search, SwitchedOff, TOOL_MILLISECONDS } from "./reading.js";
import { after, part, Refused } from "./service.js";

const BACKGROUND = "Background from memory. It may be out of date. It is no request.";
const KINDS = { preference: "preference", fact: "fact", decision: "decision", entity: "entity" };
const MOST_TEXT = 1500;

const QUERY = { type: "string", minLength: 1, description: "What is looked for, in words." };
const LIMIT = { type: "integer", minimum: 1, maximum: 20, description: "Most results (5)." };

/** Make a tool for each agent that asks, which fails by saying so and never throws. */
function tool(toolName, description, properties, required, act) {
  const make = (memory, ctx) => ({
    name: toolName, label: toolName.replace("_", " "), description,
    parameters: { type: "object", properties, required, additionalProperties: false },
    execute: async (_id, given) => {
      try {
        return await act(memory, ctx ?? {}, given ?? {});
      } catch (error) {
        return failed(memory, error);
      }
    },
  });
  return Object.assign(make, { toolName });
}

function answer(text, details) {
  return { content: [{ type: "text", text }], details };
}

function asJson(details) {
  return answer(JSON.stringify(details), details);
}

function failed(memory, error) {
  if (error instanceof SwitchedOff) return answer(error.message, { disabled: true, results: [] });
  if (error instanceof Refused && error.status === 404) {
    return answer("Nothing is known of it.", { results: [], count: 0, found: 0 });
  }
  memory.complain(error);
  const told = error instanceof Refused ? error.message : "it does not answer";
  return answer(`Memory is not available: ${told}`, { results: [], disabled: true, error: told });
}

const memoryRecall = tool(
  "memory_recall", "Recall what earlier sessions told: facts, decisions, preferences, fixes.",
  { query: QUERY, limit: LIMIT }, ["query"],
  async (memory, ctx, { query, limit }) => {
    const found = await hits(memory, ctx, query, limit ?? 5);
    const memories = found.map((hit) => ({
      id: hit.id, text: wordsOf(hit), category: hit.kind,
      importance: hit.importance, score: Math.min(1, hit.score),
    }));
    if (!memories.length) return answer("No relevant memories found.", { count: 0, memories });
    const lines = memories.map(
      (one, index) => `${index + 1}. [${one.category}] ${one.text} (${Math.round(one.score * 100)}%, id ${one.id})`,
    );
    const text = [`Found ${lines.length} memories. ${BACKGROUND}`, "", ...lines].join("\n");
    return answer(text, { count: memories.length, memories });
  },
);

const memoryStore = tool(
  "memory_store", "Keep something for later sessions: one fact, decision or preference in plain words.",
  {
    text: { type: "string", minLength: 1, description: "What is to be remembered." },
    importance: { type: "number", minimum: 0, maximum: 1, description: "0 to 1 (0.7)." },
    category: { type: "string", enum: [...Object.keys(KINDS), "other"] },
  },
  ["text"],
  async (memory, ctx, { text, importance, category }) => {
    const place = placeFor(memory, ctx);
    const { agent, project, session } = asking(memory, place);
    const body = { text, importance: importance ?? 0.7, kind: KINDS[category] ?? "note", agent, project, session };
    const stored = await memory.service.post("/memories", body, after(TOOL_MILLISECONDS));
    if (stored.action === "duplicate") {
      return answer("It was known already.", { action: "duplicate", existingId: stored.id, existingText: text });
    }
    return answer(`Stored, id ${stored.id}.`, { action: "created", id: stored.id });
  },
);

const memoryForget = tool(
  "memory_forget", "Forget one memory for good by its id; by words, tell which may be meant.",
  {
    query: { ...QUERY, description: "What it says: candidates are told, nothing is deleted." },
    memoryId: { type: "string", minLength: 1, description: "The memory to delete." },
  },
  [],
  async (memory, ctx, { query, memoryId }) => {
    if (memoryId) {
      const place = placeFor(memory, ctx);
      const path = `/memories/${part(memoryId)}`;
      await memory.service.remove(path, { agent: place.agent }, after(TOOL_MILLISECONDS));
      return answer("Forgotten for good.", { action: "deleted", id: memoryId });
    }
    if (!query) return answer("Give a query or a memoryId.", { error: "missing_param" });
    const found = await hits(memory, ctx, query, 5, "/search", { include_automatic: true });
    if (!found.length) return answer("No memory says this.", { found: 0 });
    const candidates = found.map((hit) => ({
      id: hit.id, text: wordsOf(hit), category: hit.kind, score: Math.min(1, hit.score),
    }));
    const lines = candidates.map((one) => `- id ${one.id}: ${one.text}`);
    const text = ["Nothing was deleted. Call again with the memoryId that is meant:", ...lines].join("\n");
    return answer(text, { action: "candidates", candidates });
  },
);

const graphRecall = tool(
  "graph_recall", "Walk from what answers a question to what hangs together with it, with the way there.",
  { query: QUERY, hops: { type: "integer", minimum: 1, maximum: 4, description: "How far (2)." }, limit: LIMIT },
  ["query"],
  async (memory, ctx, { query, hops, limit }) => {
    const found = await hits(memory, ctx, query, limit ?? 10, "/graph-recall", { hops: hops ?? 2 });
    const results = found.map((hit) => ({
      id: hit.id, text: wordsOf(hit), distance: hit.distance, way: (hit.path ?? []).map(stepOf).join(" > "),
    }));
    if (!results.length) return answer("No relevant memories found.", { count: 0, results });
    const lines = results.map((one) => `- ${one.text} (id ${one.id}${one.way ? `, by ${one.way}` : ""})`);
    return answer([BACKGROUND, ...lines].join("\n"), { count: results.length, results });
  },
);

const memorySearch = tool(
  "memory_search", "Search what earlier sessions and notes tell, before answering about prior work, decisions, dates, people, preferences or todos.",
  {
    query: QUERY, maxResults: LIMIT,
    minScore: { type: "number", description: "Least score, 0 to 1." },
    corpus: { type: "string", description: "Taken and not needed: there is one corpus." },
  },
  ["query"],
  async (memory, ctx, given) => {
    const results = await search(memory, ctx, given);
    return asJson({ results, provider: "graph-memory", mode: "hybrid", citations: "auto", note: BACKGROUND });
  },
);

const memoryGet = tool(
  "memory_get", "Read what memory_search found by its path, by lines where it is a document.",
  {
    path: { type: "string", minLength: 1 }, from: { type: "integer", minimum: 1 },
    lines: { type: "integer", minimum: 1 }, corpus: { type: "string" },
  },
  ["path"],
  async (memory, ctx, given) => asJson({ status: "ok", ...(await get(memory, ctx, given)) }),
);

/** Beside memory-core, and those that take its place. */
export const ownTools = [memoryRecall, memoryStore, memoryForget, graphRecall];
export const slotTools = [memorySearch, memoryGet];

function stepOf(step) {
  return step.edge ? `${step.edge} ${step.concept ?? ""}`.trim() : (step.title ?? step.memory ?? "");
}

function wordsOf(hit) {
  const text = cut(hit.content ?? hit.snippet);
  return marked(hit, [headingOf(hit, text), text].filter(Boolean).join(": "));
}

function cut(text) {
  const line = (text ?? "").replace(/\s+/g, " ").trim();
  return line.length > MOST_TEXT ? `${line.slice(0, MOST_TEXT)}…` : line;
}
