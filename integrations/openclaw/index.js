/**
 * Graph Memory for OpenClaw: carries the gateway's turns to the service, and its answers back.
 *
 * What is worth keeping and what is told decides the service. It stands beside memory-core; the
 * plugin `openclaw-slot` takes the memory slot too.
 */
import { Memory } from "./lib/memory.js";
import { capture, close } from "./lib/capture.js";
import { recall } from "./lib/recall.js";
import { promptLines, corpus } from "./lib/supplements.js";
import { ownTools } from "./lib/tools.js";

export default {
  id: "graph-memory",
  name: "Graph Memory",
  description: "Sessions start warm, recall what matters, and lose nothing: a memory of your own.",
  register,
};

/** A gateway registers a plugin anew for each agent; what is remembered of sessions is on disk. */
function register(api) {
  const memory = Memory.of(api);
  for (const tool of ownTools) {
    api.registerTool((ctx) => tool(memory, ctx), { names: [tool.toolName] });
  }
  api.registerMemoryPromptSupplement?.((told) => promptLines(told?.availableTools));
  api.registerMemoryCorpusSupplement?.(corpus(memory));
  registerHooks(api, memory);
}

function registerHooks(api, memory) {
  const on = (name, act, more) => api.on(name, quietly(memory, act), more);
  if (memory.settings.autoRecall) {
    const timeoutMs = memory.settings.timeoutMs + 1000;
    on("before_prompt_build", (event, ctx) => recall(memory, event, ctx), { timeoutMs });
  }
  if (memory.settings.autoCapture) {
    on("agent_end", (event, ctx) => capture(memory, event, ctx));
    // Both tell how a session ended; the first one has its messages.
    on("before_reset", (event, ctx) => capture(memory, event, ctx, { isEnd: true }));
    on("session_end", (event, ctx) => close(memory, event, ctx));
  }
  on("session_start", (_event, ctx) => memory.wake(ctx));
}

/** Whatever goes wrong, the session goes on. */
function quietly(memory, act) {
  return async (event, ctx) => {
    try {
      return await act(event ?? {}, ctx ?? {});
    } catch (error) {
      memory.complain(error);
      return undefined;
    }
  };
}
