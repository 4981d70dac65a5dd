import assert from "node:assert/strict";
import { test } from "node:test";
import { gateway, service, slot } from "./gateway.mjs";

const HIT = {
  id: "m1", title: "Phrase", content: "The code phrase is blue bunny.", kind: "fact", importance: 0.7,
  score: 1.31, occurred_at: "2026-02-15T22:20:05Z", source: { uri: null, line_start: null, line_end: null },
};
const UNTITLED = { ...HIT, id: "m3", title: "Rule: ask for the phrase", content: "**Rule**: ask for the `phrase`" };
const NOTE = {
  ...HIT, id: "m2", title: "Phrase (superseded)", heading_path: ["Day", "Phrase", "Decision"],
  source: { uri: "memory/2026-02-13.md", line_start: 3, line_end: 5 },
};

async function both(answers, config = {}, which) {
  const memory = await service(answers);
  const wholeConfig = { plugins: { entries: { "graph-memory": { config: { baseUrl: memory.url, ...config } } } } };
  const claw = which ? gateway({}, { which, wholeConfig }) : gateway({ baseUrl: memory.url, ...config });
  return { memory, claw, end: () => { memory.close(); claw.end(); } };
}

test("memory_recall, memory_store and memory_forget speak as their peers do", async () => {
  const { memory, claw, end } = await both({
    "/search": () => ({ results: [HIT] }),
    "/memories": (body) => ({ status: 201, id: "m9", action: body.text === "known" ? "duplicate" : "created" }),
  });
  const recalled = await claw.use("memory_recall", { query: "phrase", limit: 3 });
  assert.match(recalled.content[0].text, /^Found 1 memories\. Background.*\n\n1\. \[fact\] Phrase: The code phrase is blue bunny\. \(100%, id m1\)$/);
  assert.equal(recalled.details.count, 1);
  const { body } = memory.asked[0];
  assert.deepEqual([body.agent, body.limit, body.session, body.new_only], ["main", 3, "s1", false]);
  assert.equal(body.project.root, claw.workspace);
  const stored = await claw.use("memory_store", { text: "Tea at four.", category: "preference" });
  assert.deepEqual(stored.details, { action: "created", id: "m9" });
  assert.equal(memory.asked.at(-1).body.kind, "preference");
  assert.equal((await claw.use("memory_store", { text: "known" })).details.action, "duplicate");
  assert.equal((await claw.use("memory_forget", { query: "phrase" })).details.action, "candidates");
  assert.deepEqual((await claw.use("memory_forget", {})).details, { error: "missing_param" });
  assert.ok(!memory.asked.some((one) => one.method === "DELETE"));
  await claw.use("memory_forget", { memoryId: "m/1" });
  assert.equal(memory.asked.at(-1).url, "/memories/m%2F1?agent=main");
  await claw.use("memory_forget", { memoryId: "..m" });
  assert.equal(memory.asked.at(-1).url, "/memories/..m?agent=main");
  const { length } = memory.asked;
  for (const memoryId of [".", ".."]) {
    const forgotten = await claw.use("memory_forget", { memoryId });
    assert.equal(forgotten.content[0].text, "Nothing is known of it.");
  }
  assert.equal(memory.asked.length, length);
  end();
});

test("in the slot memory_search and memory_get have the shapes of memory-core", async () => {
  const { claw, end } = await both(
    {
      "/search": () => ({ results: [HIT, NOTE, UNTITLED] }),
      "/memories/m1": () => HIT, "/documents": () => ({ path: "memory/2026-02-13.md", text: "line 3" }),
    }, {}, slot,
  );
  assert.deepEqual([...claw.tools.keys()], ["memory_search", "memory_get"]);
  assert.equal(claw.hooks.size, 0);
  assert.equal("runtime" in claw.made.capability, false);
  const { results } = (await claw.use("memory_search", { query: "phrase" })).details;
  assert.deepEqual(results.map((one) => [one.path, one.startLine, one.citation]), [
    ["memory:m1", 1, "memory:m1"], ["memory/2026-02-13.md", 3, "memory/2026-02-13.md#L3-L5"],
    ["memory:m3", 1, "memory:m3"],
  ]);
  assert.deepEqual(results.map((one) => one.title), ["Phrase", "Day › Phrase (superseded)", undefined]);
  assert.ok(results.every((one) => one.score >= 0 && one.score <= 1 && one.source === "memory"));
  const own = (await claw.use("memory_get", { path: "memory:m1" })).details;
  assert.deepEqual(own, { status: "ok", path: "memory:m1", text: HIT.content });
  const lines = (await claw.use("memory_get", { path: "memory/2026-02-13.md", from: 3, lines: 1 })).details;
  assert.equal(lines.text, "line 3");
  assert.deepEqual(claw.made.capability.promptBuilder({ availableTools: ["memory_search"] })[0], "## Memory Recall");
  end();
});

test("of words that nobody trusted each tool says so", async () => {
  const doubted = { ...HIT, trust_tier: "untrusted", path: [] };
  const page = { path: "page.md", text: HIT.content, trust_tier: "untrusted" };
  const answers = {
    "/search": () => ({ results: [doubted] }), "/graph-recall": () => ({ results: [doubted] }),
    "/memories/m1": () => doubted, "/documents": () => page,
  };
  for (const which of [undefined, slot]) {
    const { claw, end } = await both(answers, {}, which);
    const asked = which ? [["memory_search", { query: "x" }], ["memory_get", { path: "memory:m1" }], ["memory_get", { path: page.path }]]
      : ["memory_recall", "graph_recall", "memory_forget"].map((name) => [name, { query: "x" }]);
    for (const [name, given] of asked) {
      const { text } = (await claw.use(name, given)).content[0];
      assert.match(text, /\[untrusted\] (Phrase: )?The code phrase is blue bunny\./, name);
    }
    end();
  }
});

test("a tool says what is wrong and throws nothing", async () => {
  const { claw, end } = await both({ "/search": () => ({ status: 503 }) });
  assert.equal((await claw.use("memory_recall", { query: "x" })).details.disabled, true);
  const group = { sessionKey: "agent:main:slack:channel:1" };
  const off = await claw.use("memory_store", { text: "x" }, group);
  assert.equal(off.content[0].text, "Memory is switched off here.");
  const away = gateway({ baseUrl: "http://127.0.0.1:9" });
  assert.match((await away.use("graph_recall", { query: "x" })).content[0].text, /not available/);
  away.end();
  end();
});

test("the corpus beside memory-core finds and reads, and is silent where it cannot", async () => {
  const { memory, claw, end } = await both({
    "/search": () => ({ results: [NOTE] }), "/documents": () => ({ path: "p", text: "a\nb" }),
  }, { ignoreFiles: ["secret/*"] });
  const asked = { query: "phrase", agentId: "main", agentSessionKey: "agent:main:main" };
  const [found] = await claw.made.corpus.search(asked);
  assert.deepEqual([found.corpus, found.path, found.id], ["graph-memory", "memory/2026-02-13.md", "m2"]);
  const read = await claw.made.corpus.get({ lookup: "p", fromLine: 2, agentId: "main" });
  assert.deepEqual([read.content, read.fromLine, read.lineCount], ["a\nb", 2, 2]);
  assert.equal(await claw.made.corpus.get({ lookup: "secret/a.md", agentId: "main" }), null);
  memory.answers["/search"] = () => ({ results: [{ ...NOTE, source: { uri: "secret/a.md" } }] });
  assert.deepEqual(await claw.made.corpus.search(asked), []);
  memory.answers["/search"] = () => ({ status: 500 });
  assert.deepEqual(await claw.made.corpus.search(asked), []);
  end();
});
