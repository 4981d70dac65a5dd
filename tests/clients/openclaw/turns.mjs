/** Turns of a fake gateway with the real service: what each was told, and how long it took. */
import fs from "node:fs";
import { gateway, stored, turn } from "./gateway.mjs";

const { config, prompts, state, session } = JSON.parse(fs.readFileSync(0, "utf8"));
const claw = gateway(config, { state });
claw.ctx.sessionId = session;
const told = [];
let history = [];
for (const [index, prompt] of prompts.entries()) {
  const began = performance.now();
  const reply = await claw.fire("before_prompt_build", { prompt, messages: history }, { runId: `${index}` });
  const asked = performance.now();
  history = [...stored(history), ...turn(prompt)];
  await claw.fire("agent_end", { messages: history });
  told.push({ reply: reply ?? {}, recall: asked - began, capture: performance.now() - asked });
}
const began = performance.now();
await claw.fire("session_end", { sessionId: session, reason: "new" });
const end = performance.now() - began;
const found = JSON.stringify({ told, end, waiting: claw.spool().length, warnings: claw.warnings });
if (!state) claw.end();
// A pipe takes so much at once: whoever exits before it took all cuts the answer short.
process.stdout.write(found, () => process.exit(0));
