/**
 * Graph Memory in the memory slot: memory_search and memory_get answer from the service.
 *
 * What is told and kept unasked brings the plugin beside it, whose settings hold here.
 */
import { Memory } from "../openclaw/lib/memory.js";
import { slotTools } from "../openclaw/lib/tools.js";

export default {
  id: "graph-memory-slot",
  name: "Graph Memory in the slot",
  description: "memory_search and memory_get answer from graph-memory.",
  kind: "memory",
  register,
};

function register(api) {
  const memory = Memory.of(api);
  for (const tool of slotTools) {
    api.registerTool((ctx) => tool(memory, ctx), { names: [tool.toolName] });
  }
  // Without a runtime of its own: with one, a gateway would leave MEMORY.md out.
  api.registerMemoryCapability?.({ promptBuilder: ({ availableTools }) => slotLines(availableTools) });
}

function slotLines(available) {
  if (!new Set(available ?? []).has("memory_search")) return [];
  return [
    "## Memory Recall",
    "Before you answer about prior work, decisions, dates, people, preferences or todos, ask " +
      "memory_search, and memory_get for the lines that matter. Name the source where it helps.",
    "",
  ];
}
