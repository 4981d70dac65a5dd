import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { from } from "./gateway.mjs";

const { findPlace, readToml } = await from("place.js");
const { coversPath, matches } = await from("globs.js");
const { readSettings } = await from("settings.js");

const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), "mina's \"crane\" 두루미 "));
const put = (root, name, text) => {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), text);
};
const at = (workspace, config = {}) => findPlace(workspace, readSettings(config));

test("the project is the remote, else the folder, in a worktree too", () => {
  const root = folder();
  assert.deepEqual(at(root).project, { root });
  const lines = '[core]\r\n[remote "other"]\r\n url = x\r\n[remote "origin"]\r\n\turl = git@github.com:ann/app.git\r\n';
  put(root, ".git/config", lines);
  put(root, "deep/er/a", "");
  const found = { root, origin: "git@github.com:ann/app.git" };
  assert.deepEqual(at(path.join(root, "deep", "er")).project, found);
  const tree = folder();
  put(root, ".git/worktrees/t/commondir", "../..\n");
  put(tree, ".git", `gitdir: ${path.join(root, ".git", "worktrees", "t")}\n`);
  assert.deepEqual(at(tree).project, found);
  put(root, ".git/config", "[core]\n");
  assert.deepEqual(at(tree).project, { root });
  fs.rmSync(root, { recursive: true });
  fs.rmSync(tree, { recursive: true });
});

test("a file in the folder or above says otherwise", () => {
  const root = folder(), inside = path.join(root, "work", "one");
  fs.mkdirSync(inside, { recursive: true });
  put(root, ".graph-memory.toml", 'agent = "harbour" # mine\nproject = "crane"\nexclude = ["clients",\n  "drafts/2*"]\n');
  const place = at(inside);
  assert.deepEqual([place.agent, place.project], ["harbour", { name: "crane" }]);
  assert.equal(place.excludes(path.join(root, "clients", "a.md")), true);
  assert.equal(place.excludes(path.join(root, "drafts", "2026", "a.md")), true);
  assert.equal(place.excludes("a.md"), false);
  assert.equal(at(path.join(root, "clients")), null);
  assert.equal(at(inside, { project: "none" }).project, undefined);
  for (const off of ["off = true", "off = maybe", "[table]", "exclude = [1]"]) {
    put(root, ".graph-memory.toml", `${off}\n`);
    assert.equal(at(inside), null, off);
  }
  fs.rmSync(root, { recursive: true });
});

test("a folder is excluded however that is written", () => {
  const root = folder(), inside = path.join(root, "clients", "acme"), other = path.join(root, "other");
  for (const made of [inside, other]) fs.mkdirSync(made, { recursive: true });
  for (const rule of ["clients", "clients/", "./clients", "/clients", "clients/**", "**/clients", `${root}/clients`, ".", "**"]) {
    put(root, ".graph-memory.toml", `exclude = [${JSON.stringify(rule)}]\n`);
    assert.equal(at(inside), null, rule);
    assert.equal(at(path.join(root, "clients")), null, rule);
    assert.equal(at(other) === null, [".", "**"].includes(rule), rule);
  }
  fs.rmSync(root, { recursive: true });
});

test("memory is off by a file above, whatever files below say but for off = false", () => {
  const root = folder(), inside = path.join(root, "clients", "acme");
  for (const above of ["off = true", 'exclude = ["clients"]']) {
    put(root, ".graph-memory.toml", `${above}\n`);
    put(inside, ".graph-memory.toml", 'project = "acme"\n');
    assert.equal(at(inside), null, above);
    put(inside, ".graph-memory.toml", 'project = "acme"\noff = false\n');
    assert.deepEqual(at(inside).project, { name: "acme" }, above);
  }
  put(root, ".graph-memory.toml", 'exclude = ["*.key"]\n');
  put(inside, ".graph-memory.toml", 'project = "acme"\n');
  assert.equal(at(inside).excludes("tls.key"), true);
  fs.rmSync(root, { recursive: true });
});

test("where a file makes no sense memory is off, and it is told", () => {
  const root = folder();
  for (const said of ['off = "true"', "of = true", 'exclude = "clients"', 'agent = ["a"]', 'project = ""', "off ="]) {
    put(root, ".graph-memory.toml", `${said}\n`);
    const told = [];
    assert.equal(findPlace(root, readSettings({}), (error) => told.push(error.message)), null, said);
    assert.match(told.join(), /\.graph-memory\.toml: .* makes no sense/, said);
  }
  fs.rmSync(root, { recursive: true });
});

test("of TOML what such a file needs is read", () => {
  assert.deepEqual(readToml("a = 'x#y'\n\n# c\nb = \"\\u00e9\"\nc = []\noff = false"), { a: "x#y", b: "é", c: [], off: false });
  assert.equal(readToml("a = 1"), null);
  assert.equal(readToml("nonsense"), null);
});

test("globs are what fnmatch takes them for, and take no time", () => {
  for (const [glob, text, is] of [
    ["agent:*:group:*", "agent:main:x:group:1", true], ["*", "", true], ["a?c", "abc", true],
    ["a*b*c", "aXbYcZ", false], ["", "a", false], ["*.key", "deep/tls.key", true],
  ]) assert.equal(matches(glob, text), is, `${glob} ${text}`);
  assert.equal(coversPath(["clients/"], "clients/ann/a.md"), true);
  assert.equal(coversPath(["client"], "clients/a.md"), false);
  const began = performance.now();
  matches("*a".repeat(20) + "b", "a".repeat(2000));
  assert.ok(performance.now() - began < 500);
});

test("settings are of their type whatever was written", () => {
  const odd = { baseUrl: 7, timeoutMs: 1e9, contextChars: -1, ignoreFiles: "x", agents: [1], apiKey: { source: "env" } };
  const read = readSettings(odd);
  assert.deepEqual([read.baseUrl, read.timeoutMs, read.contextChars, read.ignoreFiles], ["http://127.0.0.1:8080", 10_000, 0, []]);
  assert.deepEqual([read.apiKey, read.isKeyUnresolved], ["", true]);
  assert.equal(readSettings({ baseUrl: "http://box:8080//" }).baseUrl, "http://box:8080");
});

test("where the service is says whoever connected it, and a person before; a key goes with its address", () => {
  const connection = { url: "http://harbour:1/", key: "gm_1" };
  const there = readSettings({}, connection);
  assert.deepEqual([there.baseUrl, there.apiKey], ["http://harbour:1", "gm_1"]);
  const own = readSettings({ apiKey: "gm_2" }, connection);
  assert.deepEqual([own.baseUrl, own.apiKey], ["http://harbour:1", "gm_2"]);
  const elsewhere = readSettings({ baseUrl: "http://quay:2" }, connection);
  assert.deepEqual([elsewhere.baseUrl, elsewhere.apiKey], ["http://quay:2", ""]);
  for (const odd of [null, 7, "text", {}, { url: 7, key: "gm_1" }]) {
    assert.deepEqual([readSettings({}, odd).baseUrl, readSettings({}, odd).apiKey], ["http://127.0.0.1:8080", ""]);
  }
});
