import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gateway, observer, service, stored, turn } from "./gateway.mjs";

const DAY = 86_400_000;
const texts = (entries) => entries.map((one) => one.content[0]?.text);

async function both() {
  const book = observer();
  const memory = await service({ "/observe": book.take });
  const claw = gateway({ baseUrl: memory.url });
  const end = () => { memory.close(); claw.end(); };
  return { memory, claw, book, end };
}

/** A turn as a clock that is so many milliseconds off would date it. */
const at = (off, said) => turn(said).map((one) => ({ ...one, timestamp: one.timestamp + off }));

test("a prompt of five million characters is asked by its end, and kept cut", async () => {
  const { memory, claw, book, end } = await both();
  const prompt = `${"long ".repeat(1_000_000)}What is the code phrase?`;
  const began = performance.now();
  await claw.fire("before_prompt_build", { prompt, messages: turn(prompt) }, { runId: "1" });
  await claw.fire("agent_end", { messages: turn(prompt) });
  assert.ok(performance.now() - began < 2000, `${performance.now() - began}`);
  const asked = memory.asked.find((one) => one.body?.prompt).body.prompt;
  assert.ok(asked.length <= 10_000 && asked.endsWith("What is the code phrase?"));
  assert.equal(book.sessions.get("s1")[0].content[0].text.length, 200_000);
  end();
});

test("many large messages at once are sent in parts that the service takes", async () => {
  const { memory, claw, book, end } = await both();
  const messages = Array.from({ length: 40 }, (_one, index) => turn(`${index} ${"word ".repeat(60_000)}`)).flat();
  await claw.fire("agent_end", { messages });
  assert.equal(book.sessions.get("s1").length, 80);
  const sizes = memory.asked.map((one) => JSON.stringify(one.body).length);
  assert.ok(sizes.length > 4 && Math.max(...sizes) < 2_000_000, `${sizes}`);
  end();
});

test("a spool that is full takes no more, loses nothing, and goes on once there is room", async () => {
  const { memory, claw, book, end } = await both();
  const folder = path.join(claw.folder, "graph-memory", "spool");
  fs.mkdirSync(folder, { recursive: true });
  const full = path.join(folder, "000000000001.json");
  fs.writeFileSync(full, "");
  fs.truncateSync(full, 64_000_001);
  memory.answers["/observe"] = () => ({ status: 503 });
  const [one, two] = [turn("one"), turn("two")];
  fs.writeFileSync(path.join(claw.folder, "graph-memory", "drain.lock"), "7");
  await claw.fire("agent_end", { messages: one });
  assert.deepEqual(claw.spool(), [full]);
  fs.rmSync(full);
  fs.rmSync(path.join(claw.folder, "graph-memory", "drain.lock"));
  memory.answers["/observe"] = book.take;
  await claw.fire("agent_end", { messages: [...stored(one), ...two] });
  assert.deepEqual(texts(book.sessions.get("s1")), ["one", "Understood.", "two", "Understood."]);
  assert.deepEqual(claw.spool(), []);
  end();
});

test("a capture that cannot be read just now waits for its turn, and holds up no other session", async () => {
  const { memory, claw, book, end } = await both();
  memory.answers["/observe"] = () => ({ status: 503 });
  const [one, two] = [turn("one"), turn("two")];
  await claw.fire("agent_end", { messages: one }, { sessionId: "s0" });
  await claw.fire("agent_end", { messages: [...stored(one), ...two] }, { sessionId: "s0" });
  memory.answers["/observe"] = book.take;
  // As where somebody else owns it, or a gateway has as many files open as it may.
  const [first] = claw.spool();
  const kept = fs.readFileSync(first);
  fs.rmSync(first);
  fs.symlinkSync(first, first);
  await claw.fire("agent_end", { messages: turn("mine") });
  assert.deepEqual([...book.sessions.keys()], ["s1"]);
  assert.equal(claw.spool().length, 2);
  assert.match(claw.warnings.at(-1), /ELOOP/);
  fs.rmSync(first);
  fs.writeFileSync(first, kept);
  await claw.fire("before_prompt_build", { prompt: "hm", messages: [] }, { runId: "1" });
  assert.deepEqual(texts(book.sessions.get("s0")), ["one", "Understood.", "two", "Understood."]);
  assert.deepEqual(claw.spool(), []);
  end();
});

test("what a session ends with has room of its own beside a spool that is full, and is told past that", async () => {
  const { memory, claw, book, end } = await both();
  const folder = path.join(claw.folder, "graph-memory", "spool");
  fs.mkdirSync(folder, { recursive: true });
  const full = path.join(folder, "000000000001.json");
  const lock = path.join(claw.folder, "graph-memory", "drain.lock");
  fs.writeFileSync(full, "");
  for (const [size, said] of [[64_100_000, "one"], [80_100_000, "two"]]) {
    fs.truncateSync(full, size);
    fs.writeFileSync(lock, "7");
    const messages = turn(said);
    await claw.fire("agent_end", { messages });
    assert.deepEqual(book.sessions.size, 0);
    await claw.fire("before_reset", { messages: stored(messages), reason: "new" });
    await claw.fire("session_end", { sessionId: "s1", reason: "new", nextSessionId: "s1" });
  }
  assert.match(claw.warnings[0], /64 MB wait .* stays in the session/);
  assert.match(claw.warnings[1], /80 MB wait .* is not kept/);
  fs.rmSync(full);
  fs.rmSync(lock);
  await claw.fire("before_prompt_build", { prompt: "hm", messages: [] }, { runId: "1" });
  assert.deepEqual(texts(book.sessions.get("s1")), ["one", "Understood."]);
  assert.deepEqual(memory.asked.filter((one) => one.body?.final).map((one) => one.body.session), ["s1"]);
  end();
});

test("a clock that is a day off, either way, loses nothing and repeats nothing", async () => {
  for (const off of [DAY, -DAY]) {
    const { claw, book, end } = await both();
    const [one, two, three] = [at(off, "one"), at(0, "two"), at(0, "three")];
    await claw.fire("agent_end", { messages: one });
    await claw.fire("agent_end", { messages: [...stored(one), ...two] });
    assert.deepEqual(texts(book.sessions.get("s1")), ["one", "Understood.", "two", "Understood."]);
    // Summed up since: nothing that was taken down is there any more.
    const summed = [{ role: "compactionSummary", content: "before", timestamp: one[0].timestamp }];
    await claw.fire("agent_end", { messages: [...summed, ...three] });
    // What a gateway summed up is no turn to the service, whenever that was.
    const later = book.sessions.get("s1").slice(4).filter((one) => one.role !== "compactionSummary");
    assert.deepEqual(texts(later), ["three", "Understood."]);
    end();
  }
});

test("a clock that was ahead hides nothing of a session that was summed up since", async () => {
  const { claw, book, end } = await both();
  const ahead = at(DAY, "one");
  await claw.fire("agent_end", { messages: ahead });
  const summed = [{ role: "compactionSummary", content: "before", timestamp: ahead[0].timestamp }];
  await claw.fire("agent_end", { messages: [...summed, ...at(0, "two")] });
  assert.deepEqual(texts(book.sessions.get("s1")), ["one", "Understood.", "two", "Understood."]);
  end();
});

test("line ends of Windows make no message another one", async () => {
  const { claw, book, end } = await both();
  const said = [turn("one\r\ntwo")[0]];
  await claw.fire("agent_end", { messages: said });
  const kept = [{ ...said[0], content: "one\ntwo" }, turn("", "Understood.")[1]];
  await claw.fire("agent_end", { messages: kept });
  assert.deepEqual(texts(book.sessions.get("s1")), ["one\r\ntwo", "Understood."]);
  fs.writeFileSync(path.join(claw.workspace, ".graph-memory.toml"), "# mine\r\noff = true\r\n");
  await claw.fire("agent_end", { messages: [...kept, ...turn("three")] });
  assert.equal(book.sessions.get("s1").length, 2);
  end();
});

test("messages with fields that are missing, strange or too many are read as far as they make sense", async () => {
  const { claw, book, end } = await both();
  const odd = [
    null, 7, "text", [], {}, { role: 7, content: "x" }, { role: "user" }, { role: "user", content: { text: "x" } },
    { role: "user", content: [null, 7, { type: "text" }, { type: "text", text: "kept" }, { type: "audio_2031", text: "x" }], timestamp: "soon", extra: { deep: [1] } },
    { role: "assistant", content: [{ type: "toolCall", id: 7, name: null, arguments: "not an object" }] },
    { role: "oracle", content: "a role of 2031" },
  ];
  await claw.fire("agent_end", { messages: odd, success: "maybe", verdict: 1 }, { trace: 7, lane: {} });
  assert.ok(texts(book.sessions.get("s1")).includes("kept"));
  assert.deepEqual(claw.warnings, []);
  end();
});
