/** Which project a workspace is, and whether memory is off there, as `graph-memory` says it. */
import fs from "node:fs";
import path from "node:path";
import { coversPath } from "./globs.js";

const FILE = ".graph-memory.toml";
const MOST_BYTES = 1_000_000;

/**
 * Return what is sent to the service of a workspace, and what is excluded in it; null where memory
 * is switched off, or nobody can tell.
 */
export function findPlace(workspace, settings) {
  const said = workspace ? readFile(workspace) : { folder: "", told: {} };
  if (!said || said.told.off === true) return null;
  const exclude = Array.isArray(said.told.exclude) ? said.told.exclude : [];
  const rules = { folder: said.folder, exclude, workspace, ignored: settings.ignoreFiles };
  if (workspace && excludes(rules, workspace)) return null;
  const named = settings.project || said.told.project;
  const project = named ? namedProject(named) : foundProject(workspace);
  return { project, agent: said.told.agent, excludes: (file) => excludes(rules, file) };
}

/** A file is meant from the workspace on where its path says nothing else. */
function excludes(rules, file) {
  const whole = path.resolve(rules.workspace || "/", file);
  return (
    isBelow(rules.folder, whole, rules.exclude) ||
    isBelow(rules.workspace, whole, rules.ignored) ||
    coversPath(rules.ignored, whole) || coversPath(rules.ignored.map(rootless), whole)
  );
}

function isBelow(folder, file, rules) {
  if (!folder || !rules.length) return false;
  const inside = path.relative(folder, file);
  return Boolean(inside) && !inside.startsWith("..") && coversPath(rules, inside);
}

function rootless(rule) {
  return rule.replace(/^\//, "");
}

/** Reading and writing name it alike: by what it is, not by one text. */
function namedProject(named) {
  if (named === "none") return undefined;
  if (/^(?:\/|~|[A-Za-z]:[\\/])/.test(named)) return { root: named };
  return /:\/\/|^[^/:@]{1,200}@[^/:]{1,200}:/.test(named) ? { origin: named } : { name: named };
}

function foundProject(workspace) {
  if (!workspace) return undefined;
  const root = upwards(workspace).find((folder) => fs.existsSync(path.join(folder, ".git")));
  const origin = root ? originOf(root) : undefined;
  return { root: root ?? workspace, ...(origin ? { origin } : {}) };
}

function upwards(folder) {
  const found = [path.resolve(folder)];
  while (path.dirname(found.at(-1)) !== found.at(-1)) found.push(path.dirname(found.at(-1)));
  return found;
}

/** A worktree's `.git` is a file that names a folder, which names the one with the settings. */
function originOf(root) {
  let folder = path.join(root, ".git");
  const pointer = /^gitdir: (.+)$/m.exec(readText(folder) ?? "");
  if (pointer) folder = path.resolve(root, pointer[1].trim());
  const common = readText(path.join(folder, "commondir"));
  if (common) folder = path.resolve(folder, common.trim());
  const lines = (readText(path.join(folder, "config")) ?? "").split(/\r?\n/);
  let isOrigin = false;
  for (const line of lines) {
    if (line.trim().startsWith("[")) isOrigin = /^\[remote "origin"\]/.test(line.trim());
    const url = isOrigin ? /^\s*url\s*=\s*(\S.*)$/.exec(line) : null;
    if (url) return url[1].trim();
  }
  return undefined;
}

/** Return the nearest file's folder and what it says; null for what makes no sense. */
function readFile(workspace) {
  for (const folder of upwards(workspace)) {
    const text = readText(path.join(folder, FILE));
    if (text !== undefined) {
      const told = readToml(text);
      return told && { folder, told };
    }
  }
  return { folder: "", told: {} };
}

function readText(file) {
  try {
    return fs.statSync(file).size > MOST_BYTES ? undefined : fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Return names with their texts, truths and lists of texts; null of any other TOML. */
export function readToml(text) {
  const told = {};
  const lines = text.replace(/\r/g, "").split("\n");
  while (lines.length) {
    let line = bare(lines.shift());
    if (!line) continue;
    const [, name, begun] = /^([\w-]+)\s*=\s*(.+)$/.exec(line) ?? [];
    if (!name) return null;
    line = begun;
    while (line.startsWith("[") && !line.endsWith("]") && lines.length) line += bare(lines.shift());
    const value = valueOf(line);
    if (value === undefined) return null;
    told[name] = value;
  }
  return told;
}

/** Return a line without what stands behind a `#` that is in no text. */
function bare(line) {
  const found = /^(?:[^#"']|"(?:[^"\\]|\\.)*"|'[^']*')*/.exec(line);
  return found[0].trim();
}

function valueOf(text) {
  if (text.startsWith("[") && text.endsWith("]")) {
    const parts = text.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,]+/g) ?? [];
    const values = parts.map(valueOf);
    return values.every((one) => typeof one === "string") ? values : undefined;
  }
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  try {
    return text.startsWith('"') ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
