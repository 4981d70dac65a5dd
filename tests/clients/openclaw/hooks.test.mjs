import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { gateway, observer, service, stored, turn } from "./gateway.mjs";

const CONTEXT = '<graph-memory-context agent="main">\nrules\n</graph-memory-context>';
const BUNNY = '<graph-memory-context agent="main">\n- blue bunny\n</graph-memory-context>';
const told = {
  "/hooks/openclaw": (body) =>
    body.event === "session_start" ? { appendSystemContext: CONTEXT }
      : body.prompt.includes("phrase") ? { prependContext: BUNNY } : {},
};

async function both(config = {}, answers = {}) {
  const book = observer();
  const memory = await service({ ...told, "/observe": book.take, ...answers });
  const claw = gateway({ baseUrl: memory.url, ...config });
  const end = () => { memory.close(); claw.end(); };
  return { memory, claw, book, end };
}

const texts = (entries) => entries.map((one) => one.content[0]?.text);

test("register is synchronous, and brings tools, hooks and supplements", async () => {
  const { claw, end } = await both();
  assert.equal(claw.returned, undefined);
  assert.deepEqual([...claw.tools.keys()].sort(), ["graph_recall", "memory_forget", "memory_recall", "memory_store"]);
  assert.deepEqual(claw.made.prompt({ availableTools: new Set() }), []);
  assert.match(claw.made.prompt({ availableTools: new Set(["memory_recall"]) }).join("\n"), /out of date/);
  end();
});

test("a session is told its context and each memory once, the same bytes in each turn", async () => {
  const { memory, claw, end } = await both();
  const first = await claw.fire("before_prompt_build", { prompt: "the phrase?", messages: [] }, { runId: "1" });
  assert.deepEqual(first, { appendSystemContext: CONTEXT, prependContext: BUNNY });
  memory.answers["/hooks/openclaw"] = () => ({});
  const again = await claw.fire("before_prompt_build", { prompt: "the phrase?", messages: [] }, { runId: "2" });
  assert.deepEqual(again, first);
  // A gateway that keeps what it was given in the history is given it once.
  const kept = [{ role: "user", content: `${BUNNY}\n\nthe phrase?` }];
  const third = await claw.fire("before_prompt_build", { prompt: "more", messages: kept }, { runId: "3" });
  assert.deepEqual(third, { appendSystemContext: CONTEXT });
  end();
});

test("a turn that is prepared anew asks nothing a second time", async () => {
  const { memory, claw, end } = await both();
  const event = { prompt: "the phrase?", messages: [], currentUserMessageId: "m1" };
  const first = await claw.fire("before_prompt_build", event, { runId: "1" });
  const asked = memory.asked.length;
  assert.deepEqual(await claw.fire("before_prompt_build", event, { runId: "2" }), first);
  assert.equal(memory.asked.length, asked);
  end();
});

test("heartbeats, cron jobs, sub-agents, groups and pictures ask nothing", async () => {
  const { memory, claw, end } = await both();
  const event = { prompt: "the phrase?", messages: [] };
  await claw.fire("before_prompt_build", event, { trigger: "heartbeat" });
  for (const key of ["agent:main:subagent:7", "cron:nightly", "agent:main:discord:group:9"]) {
    await claw.fire("before_prompt_build", event, { sessionKey: key });
    await claw.fire("agent_end", { messages: turn("Please remember it.") }, { sessionKey: key });
  }
  assert.deepEqual(memory.asked, []);
  assert.deepEqual(claw.spool(), []);
  await claw.fire("before_prompt_build", { ...event, currentUserMessage: "" }, { runId: "1" });
  assert.deepEqual(memory.asked.map((one) => one.body.event), ["session_start"]);
  end();
});

test("what a heartbeat or another session said is passed over for good", async () => {
  const { claw, book, end } = await both();
  const beat = turn("HEARTBEAT: look around"), other = turn("from a session"), own = turn("mine");
  await claw.fire("agent_end", { messages: beat }, { trigger: "heartbeat" });
  const inputProvenance = { kind: "inter_session" };
  await claw.fire("agent_end", { messages: [...stored(beat), ...other] }, { inputProvenance });
  await claw.fire("agent_end", { messages: [...stored(beat), ...stored(other), ...own] });
  assert.deepEqual(texts(book.sessions.get("s1")), ["mine", "Understood."]);
  end();
});

test("each message is sent once, through shapes, summaries, resets and a new gateway", async () => {
  const { memory, claw, book, end } = await both();
  const [one, two, three, four] = ["one", "two", "three", "four"].map((said) => turn(said));
  await claw.fire("agent_end", { messages: one });
  await claw.fire("agent_end", { messages: [...stored(one), ...two] });
  await claw.fire("agent_end", { messages: [...stored(one), ...two] });
  const later = gateway({ baseUrl: memory.url }, { state: claw.folder });
  const summed = [{ role: "compactionSummary", content: "before", timestamp: one[0].timestamp }];
  await later.fire("agent_end", { messages: [...summed, ...three] });
  const all = ["one", "Understood.", "two", "Understood.", "three", "Understood."];
  assert.deepEqual(texts(book.sessions.get("s1")), all);
  // The new era gives a session that was reset the same id.
  await later.fire("before_reset", { messages: [...summed, ...stored(three)], reason: "new" });
  await later.fire("session_end", { sessionId: "s1", reason: "new", nextSessionId: "s1" });
  await later.fire("agent_end", { messages: four });
  assert.deepEqual(texts(book.sessions.get("s1")), all);
  assert.deepEqual(texts(book.sessions.get("s1.1")), ["four", "Understood."]);
  const finals = memory.asked.filter((one) => one.body?.final).map((one) => one.body.session);
  assert.deepEqual(finals, ["s1"]);
  end();
});

test("a gateway that shuts down ends no session, and an ended transcript is read", async () => {
  const { memory, claw, book, end } = await both();
  await claw.fire("agent_end", { messages: turn("one") });
  await claw.fire("session_end", { sessionId: "s1", reason: "shutdown" });
  assert.equal(memory.asked.filter((one) => one.body?.final).length, 0);
  const rest = turn("two");
  const endedTranscript = { available: true, readTail: async () => ({ messages: rest }) };
  await claw.fire("session_end", { sessionId: "s1", reason: "idle" }, { endedTranscript });
  assert.deepEqual(texts(book.sessions.get("s1")), ["one", "Understood.", "two", "Understood."]);
  assert.equal(memory.asked.at(-1).body.final, true);
  end();
});

test("thoughts, pictures and details stay; long texts and arguments are cut", async () => {
  const { claw, book, end } = await both();
  const [user] = turn("look");
  const messages = [
    { ...user, content: [...user.content, { type: "image", data: "x".repeat(5_000_000) }] },
    { role: "assistant", timestamp: 5, content: [
      { type: "thinking", thinking: "secret", signature: "s" },
      { type: "toolCall", id: "c1", name: "write", arguments: { path: "a.md", content: "x".repeat(3_000_000) } },
    ] },
    { role: "toolResult", toolCallId: "c1", toolName: "write", isError: false, details: { a: 1 },
      content: [{ type: "text", text: "y".repeat(100_000) + "end" }], timestamp: 6 },
    null, 7, { role: 3 },
  ];
  await claw.fire("agent_end", { messages });
  const entries = book.sessions.get("s1");
  assert.equal(entries.length, 3);
  const sent = JSON.stringify(entries);
  assert.ok(sent.length < 30_000, `${sent.length}`);
  assert.ok(!/secret|image|details/.test(sent));
  assert.match(entries[2].content[0].text, /end$/);
  end();
});

test("files that are ignored are left out with what came of them", async () => {
  const { claw, book, end } = await both({ ignoreFiles: ["clients/*", "*.key"] });
  const call = (id, file) => ({ type: "toolCall", id, name: "read", arguments: { path: file } });
  const gave = (id) => ({ role: "toolResult", toolCallId: id, content: [{ type: "text", text: `of ${id}` }], timestamp: 9 });
  const messages = [
    ...turn("look"),
    { role: "assistant", timestamp: 8, content: [call("a", "clients/ann.md"), call("b", "notes.md")] },
    gave("a"), gave("b"),
    { role: "assistant", timestamp: 10, content: [call("c", path.join(claw.workspace, "deep", "tls.key"))] },
    gave("c"),
  ];
  await claw.fire("agent_end", { messages });
  const sent = JSON.stringify(book.sessions.get("s1"));
  assert.ok(!/ann\.md|tls\.key|of a|of c/.test(sent), sent);
  assert.match(sent, /notes\.md.*of b/);
  end();
});

test("captures wait in order and privately while the service is away, and arrive once", async () => {
  const { memory, claw, book, end } = await both({ baseUrl: "http://127.0.0.1:9" });
  const [one, two] = [turn("one"), turn("two")];
  await claw.fire("agent_end", { messages: one });
  await claw.fire("agent_end", { messages: [...stored(one), ...two] });
  assert.equal(claw.spool().length, 2);
  for (const file of claw.spool()) assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(claw.warnings.length, 1, claw.warnings.join("\n"));
  const back = gateway({ baseUrl: memory.url }, { state: claw.folder });
  // Half a file, and one that is killed when the service has it and its file is still there.
  const copy = fs.readFileSync(claw.spool()[0]);
  await back.fire("before_prompt_build", { prompt: "hm", messages: [] }, { runId: "1" });
  assert.deepEqual(texts(book.sessions.get("s1")), ["one", "Understood.", "two", "Understood."]);
  fs.writeFileSync(path.join(claw.folder, "graph-memory", "spool", "000000000001.json"), copy);
  fs.writeFileSync(path.join(claw.folder, "graph-memory", "spool", "000000000002.json"), '{"half');
  await back.fire("agent_end", { messages: [...stored(one), ...stored(two), ...turn("three")] });
  assert.deepEqual(texts(book.sessions.get("s1")).slice(4), ["three", "Understood."]);
  assert.deepEqual(claw.spool(), []);
  end();
});

test("a refusal for good goes, others wait: a key that is wrong, a service that is full", async () => {
  const { memory, claw, end } = await both({}, { "/observe": () => ({ status: 401 }) });
  for (const [status, left] of [[401, 1], [503, 2], [507, 3], [422, 0]]) {
    memory.answers["/observe"] = () => ({ status, type: "/problems/of-some-kind" });
    await claw.fire("agent_end", { messages: turn(`for ${status}`) });
    assert.equal(claw.spool().length, left, `${status}`);
  }
  // A page to log in is not the service, nor is another program that listens where it was.
  const strangers = [{ login: "please" }, ...[400, 404, 413, 415, 422].map((status) => ({ status }))];
  for (const [index, answer] of strangers.entries()) {
    memory.answers["/observe"] = () => answer;
    await claw.fire("agent_end", { messages: turn(`for a page ${index}`) });
    assert.equal(claw.spool().length, index + 1, JSON.stringify(answer));
  }
  end();
});

test("what the service warns of a capture stands in the log", async () => {
  const told = "Nothing of this delta was read.";
  const { claw, end } = await both({}, { "/observe": () => ({ offset: 2, warnings: [told] }) });
  await claw.fire("agent_end", { messages: turn("one") });
  assert.deepEqual(claw.spool(), []);
  assert.deepEqual(claw.warnings, [`graph-memory: session s1: ${told}`]);
  end();
});

test("a session that is refused waits in its order, and holds up no other", async () => {
  const { memory, claw, book, end } = await both();
  const at = { agentId: "work", sessionKey: "agent:work:main", sessionId: "s0" };
  const [one, two] = [turn("one"), turn("two")];
  memory.answers["/observe"] = (body) => body.agent === "work" ? { status: 403 } : book.take(body);
  await claw.fire("agent_end", { messages: one }, at);
  await claw.fire("agent_end", { messages: [...stored(one), ...two] }, at);
  await claw.fire("agent_end", { messages: turn("mine") });
  assert.deepEqual(texts(book.sessions.get("s1")), ["mine", "Understood."]);
  assert.equal(claw.spool().length, 2);
  memory.answers["/observe"] = book.take;
  await claw.fire("before_prompt_build", { prompt: "hm", messages: [] }, { runId: "1" });
  assert.deepEqual(texts(book.sessions.get("s0")), ["one", "Understood.", "two", "Understood."]);
  assert.deepEqual(claw.spool(), []);
  end();
});

test("within its time: a service that hangs delays one turn, and then none for a while", async () => {
  const { memory, claw, end } = await both({ timeoutMs: 300 }, { "/hooks/openclaw": () => undefined });
  const ask = async () => {
    const began = performance.now();
    const reply = await claw.fire("before_prompt_build", { prompt: "the phrase?", messages: [] });
    return [reply, performance.now() - began];
  };
  const [reply, took] = await ask();
  assert.equal(reply, undefined);
  assert.ok(took < 900, `${took}`);
  const [, second] = await ask();
  assert.ok(second < 100, `${second}`);
  assert.equal(memory.asked.length, 1);
  end();
});

test("what a turn says is sent at its end, also where the service was too slow for its prompt", async () => {
  const { claw, book, end } = await both({ timeoutMs: 300 }, { "/hooks/openclaw": () => undefined });
  await claw.fire("before_prompt_build", { prompt: "the phrase?", messages: [] });
  await claw.fire("agent_end", { messages: turn("one") });
  assert.deepEqual(texts(book.sessions.get("s1")), ["one", "Understood."]);
  assert.deepEqual(claw.spool(), []);
  end();
});

test("the end of a turn waits briefly for a service that hangs, and what was said waits", async () => {
  const hangs = () => undefined;
  const { memory, claw, end } = await both({ timeoutMs: 300 }, { "/hooks/openclaw": hangs, "/observe": hangs });
  await claw.fire("before_prompt_build", { prompt: "the phrase?", messages: [] });
  const began = performance.now();
  await claw.fire("agent_end", { messages: turn("one") });
  assert.ok(performance.now() - began < 4000, `${performance.now() - began}`);
  assert.equal(memory.asked.filter(({ url }) => url === "/observe").length, 1);
  assert.equal(claw.spool().length, 1);
  end();
});

test("answers that are no answers of the service are told to nobody", async () => {
  const answers = [() => ({ prependContext: 7, appendSystemContext: ["x"] }), () => ({ prependContext: "x".repeat(7000) }), () => ({ status: 500 })];
  for (const answer of answers) {
    const { claw, end } = await both({}, { "/hooks/openclaw": answer });
    const reply = await claw.fire("before_prompt_build", { prompt: "the phrase?", messages: [] }, { runId: "1" });
    assert.equal(reply, undefined);
    end();
  }
});

test("events of versions that do not exist yet hurt nothing", async () => {
  const { claw, end } = await both();
  for (const name of claw.hooks.keys()) {
    for (const event of [undefined, {}, { messages: 7 }, { prompt: [], messages: null }, { reason: 5 }]) {
      await claw.hooks.get(name)(event, undefined);
      await claw.hooks.get(name)(event, { sessionKey: 7, agentId: "main" });
    }
  }
  end();
});

test("what was told is bounded: the oldest block goes", async () => {
  let count = 0;
  const answer = (body) => body.event === "session_start" ? {} : { prependContext: `${++count}${"x".repeat(149)}` };
  const { claw, end } = await both({ recallChars: 400 }, { "/hooks/openclaw": answer });
  let reply;
  for (const runId of ["1", "2", "3", "4"]) {
    reply = await claw.fire("before_prompt_build", { prompt: "phrase", messages: [] }, { runId });
  }
  assert.ok(reply.prependContext.length <= 401);
  assert.deepEqual(reply.prependContext.match(/\d/g), ["3", "4"]);
  end();
});

test("what falls out of a request is told again, and nothing twice in one", async () => {
  const line = (name) => `- the ${name} is ${"x".repeat(80)}`;
  const given = new Set();
  // A service that gives a session nothing twice, unless it is told that the session lost it.
  const answer = (body) => {
    if (body.event === "session_start") {
      if (body.source === "compact") given.clear();
      return { appendSystemContext: CONTEXT };
    }
    const fresh = [body.prompt, "slate"].filter((name) => !given.has(name));
    fresh.forEach((name) => given.add(name));
    return fresh.length ? { prependContext: ["<m>", ...fresh.map(line), "</m>"].join("\n") } : {};
  };
  const { claw, end } = await both({ recallChars: 600 }, { "/hooks/openclaw": answer });
  const names = ["mill", "bakery", "quarry", "orchard", "foundry", "mill", "foundry", "sawmill", "bakery"];
  for (const [runId, prompt] of names.entries()) {
    const reply = await claw.fire("before_prompt_build", { prompt, messages: [] }, { runId: `${runId}` });
    assert.ok(reply.prependContext.includes(line(prompt)), `${runId} ${prompt}`);
    assert.ok(reply.prependContext.length <= 600, `${reply.prependContext.length}`);
    const lines = reply.prependContext.split("\n").filter((one) => one.startsWith("- "));
    assert.equal(new Set(lines).size, lines.length, reply.prependContext);
  }
  end();
});

test("what is said while memory is off is passed over for good", async () => {
  const { claw, book, end } = await both();
  const file = path.join(claw.workspace, ".graph-memory.toml");
  const [one, two, three] = [turn("one"), turn("a secret"), turn("three")];
  await claw.fire("agent_end", { messages: one });
  fs.writeFileSync(file, "off = true\n");
  await claw.fire("agent_end", { messages: [...stored(one), ...two] });
  fs.rmSync(file);
  await claw.fire("agent_end", { messages: [...stored(one), ...stored(two), ...three] });
  assert.deepEqual(texts(book.sessions.get("s1")), ["one", "Understood.", "three", "Understood."]);
  end();
});

test("agents are kept apart, in the words of the settings or their own", async () => {
  const { memory, claw, end } = await both({ agents: { work: "harbour" } });
  await claw.fire("agent_end", { messages: turn("one") });
  await claw.fire("agent_end", { messages: turn("two") }, { agentId: "work", sessionKey: "agent:work:main" });
  const sent = memory.asked.filter((one) => one.url === "/observe").map((one) => one.body.agent);
  assert.deepEqual(sent, ["main", "harbour"]);
  end();
});

test("the key goes to the service alone", async () => {
  const other = await service();
  const { memory, claw, end } = await both({ apiKey: "gm_k" }, {});
  memory.answers["/hooks/openclaw"] = () => ({ status: 302, headers: { location: `${other.url}/x` } });
  await claw.fire("before_prompt_build", { prompt: "the phrase?", messages: [] }, { runId: "1" });
  assert.equal(memory.asked[0].key, "Bearer gm_k");
  assert.deepEqual(other.asked, []);
  assert.ok(!claw.warnings.join("").includes("gm_k"));
  other.close();
  end();
});

test("who does not own the gateway is not remembered, and asks no memory", async () => {
  const { memory, claw, book, end } = await both();
  const [said, answered] = turn("I am somebody else");
  await claw.fire("agent_end", { messages: [{ ...said, __openclaw: { senderIsOwner: false } }, answered] });
  assert.deepEqual(texts(book.sessions.get("s1")), ["Understood."]);
  const asked = memory.asked.length;
  const reply = await claw.use("memory_recall", { query: "x" }, { senderIsOwner: false });
  assert.equal(reply.details.disabled, true);
  assert.equal(memory.asked.length, asked);
  end();
});

const PLAN = "The merger with Quillon closes in March.";
const call = (id, name, given) => ({ role: "assistant", timestamp: 8, content: [{ type: "toolCall", id, name, arguments: given }] });
const gave = (id, text) => ({ role: "toolResult", toolCallId: id, content: [{ type: "text", text }], timestamp: 9 });

/** Return what is sent of calls of tools in a workspace with a folder for which memory is off. */
async function sentOf(messages, rules = 'exclude = ["secret"]\n') {
  const { claw, book, end } = await both();
  for (const folder of ["secret", "open"]) fs.mkdirSync(path.join(claw.workspace, folder));
  fs.writeFileSync(path.join(claw.workspace, "secret", "plan.md"), PLAN);
  fs.writeFileSync(path.join(claw.workspace, ".graph-memory.toml"), rules);
  fs.symlinkSync("secret", path.join(claw.workspace, "link"));
  fs.symlinkSync("secret/plan.md", path.join(claw.workspace, "notes.md"));
  const homewards = path.relative(os.homedir(), claw.workspace);
  const told = JSON.parse(JSON.stringify(messages).replaceAll("WORKSPACE", claw.workspace).replaceAll("HOMEWARDS", homewards));
  await claw.fire("agent_end", { messages: [...turn("look"), ...told] });
  end();
  return JSON.stringify(book.sessions.get("s1"));
}

test("a file for which memory is off is left out by any name that it has", async () => {
  const names = ["secret/plan.md", "./open/../secret/plan.md", "WORKSPACE/secret/plan.md", "link/plan.md", "notes.md", "~/HOMEWARDS/secret/plan.md"];
  for (const name of names) {
    const calls = [
      ["read", { path: name }], ["edit", { path: name, edits: [{ oldText: PLAN }] }], ["write", { filePath: name, content: PLAN }],
      ["exec", { command: `cat ${name} | grep 'Quillon'` }], ["exec", { command: `cat <${name}; it's Quillon` }],
      ["apply_patch", { input: `*** Begin Patch\n*** Update File: ${name}\n-${PLAN}\n*** End Patch` }], ["read_all", { paths: ["a.md", name] }],
    ];
    for (const [tool, given] of calls) {
      const sent = await sentOf([call("a", tool, given), gave("a", PLAN)]);
      assert.ok(!/Quillon|plan\.md|notes\.md/.test(sent), `${tool} ${name}: ${sent}`);
    }
  }
});

test("what names such a file on its way back is left out, and what is meant by a pattern", async () => {
  for (const [given, back] of [
    [{ command: "rg merger" }, `open.md:1:x\nsecret/plan.md:1:${PLAN}`],
    [{ command: "cd open && grep -rn merger .." }, `../secret/plan.md:1:${PLAN}`],
    [{ command: "git show" }, `+++ b/secret/plan.md\n+${PLAN}`],
    [{ command: "cat pla*", workdir: "secret" }, PLAN],
    [{ command: "cat s[e]*/pl?n.md" }, PLAN],
    [{ command: "cat 'sec'ret/plan.m\\d" }, PLAN],
  ]) {
    const sent = await sentOf([call("a", "exec", given), gave("a", back)]);
    assert.ok(!/Quillon/.test(sent), `${given.command}: ${sent}`);
  }
  // Of a call that was summed up it is not known what it read.
  assert.ok(!/Quillon/.test(await sentOf([gave("a", PLAN)])));
  const elsewhere = 'exclude = ["elsewhere"]\n';
  assert.match(await sentOf([call("a", "exec", { command: "cat notes.md" }), gave("a", PLAN)], elsewhere), /Quillon/);
});

test("a folder that says so itself is left out, and what is written of such a file is sent", async () => {
  const made = fs.mkdtempSync(path.join(process.env.TMPDIR ?? "/tmp", "other-"));
  fs.writeFileSync(path.join(made, ".graph-memory.toml"), "off = maybe\n");
  assert.ok(!/Quillon/.test(await sentOf([call("a", "read", { path: path.join(made, "x.md") }), gave("a", PLAN)])));
  fs.rmSync(made, { recursive: true });
  const edit = { path: "a.md", edits: [{ oldText: "secret/plan.md", newText: "Quillon" }] };
  assert.match(await sentOf([call("a", "edit", edit), gave("a", "done")]), /Quillon.*done/);
  const long = "x".repeat(300);
  assert.match(await sentOf([call("a", "exec", { command: `echo ${long}/b` }), gave("a", `${long}/b.c done`)]), /x\/b.*done/);
  const patch = "*** Begin Patch\n*** Update File: a.md\n+See secret/plan.md of Quillon\n*** End Patch";
  assert.match(await sentOf([call("a", "apply_patch", { input: patch }), gave("a", "done")]), /Quillon.*done/);
});
