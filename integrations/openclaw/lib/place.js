/** Which project a workspace is, and whether memory is off there, as `graph-memory` says it. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { coversPath } from "./globs.js";

const FILE = ".graph-memory.toml";
const TEXTS = new Set(["agent", "project", "files"]);
const MOST_BYTES = 1_000_000;
const FOLDER = /^(?:[/~]|\\\\|[A-Za-z]:[\\/])/;
// git's short form, [user@]host:path, and a remote without its scheme.
const SHORT_REMOTE = /^(?:[^/@:]{1,200}@)?[^/@:\s]{2,255}:(?!\/\/)\S{1,2000}$/;
const HOST_AND_PATH = /^[\p{L}\p{N}_-]{1,63}(?:\.[\p{L}\p{N}_-]{1,63}){1,8}\/\S{1,2000}$/u;

/**
 * Return what is sent to the service of a workspace, and what is excluded in it; null where memory
 * is switched off, and where a file leaves that in doubt, of which `complain` is told.
 */
export function findPlace(workspace, settings, complain = () => {}) {
  let files;
  try {
    files = workspace ? readFiles(workspace) : [];
  } catch (error) {
    complain(error);
    return null;
  }
  const rules = { workspace, ignored: settings.ignoreFiles };
  if (files.some(({ told }) => told.off) || (workspace && excludes(rules, workspace))) return null;
  const said = files[0]?.told ?? {};
  const named = settings.project || said.project;
  const project = named ? namedProject(named) : foundProject(workspace);
  const whole = (file) => wholeOf(workspace, file);
  return { project, agent: said.agent, whole, excludes: (file) => excludes(rules, file), isFolder: (file) => isFolder(whole(file)) };
}

/** A file is meant from the workspace on where its path says nothing else. */
function wholeOf(workspace, file) {
  const isHome = file === "~" || file.startsWith("~/");
  return path.resolve(workspace || "/", isHome ? path.join(os.homedir(), file.slice(1)) : file);
}

/** A file has the name that is said, and that of what it is a link to. */
function excludes(rules, file) {
  const whole = wholeOf(rules.workspace, file);
  rules.known ??= new Map();
  if (!rules.known.has(whole)) rules.known.set(whole, [...new Set([whole, realOf(whole)])].some((one) => isOff(rules, one)));
  return rules.known.get(whole);
}

function isOff(rules, whole) {
  return (
    saidOf(rules, isFolder(whole) ? whole : path.dirname(whole)).some(({ folder, told }) => told.off || isBelow(folder, whole, told.exclude ?? [])) ||
    isBelow(rules.workspace, whole, rules.ignored) ||
    coversPath(rules.ignored, whole)
  );
}

/** Return what files say of a folder; where one makes no sense memory is off there. */
function saidOf(rules, folder) {
  rules.said ??= new Map();
  if (!rules.said.has(folder)) {
    try {
      rules.said.set(folder, readFiles(folder));
    } catch (error) {
      // So long a path has no file.
      rules.said.set(folder, error.code === "ENAMETOOLONG" ? [] : [{ folder, told: { off: true } }]);
    }
  }
  return rules.said.get(folder);
}

/** Return where a path leads; of one that is not there where its folder does. */
function realOf(whole) {
  try {
    return fs.realpathSync(whole);
  } catch {
    const above = path.dirname(whole);
    return above === whole ? whole : path.join(realOf(above), path.basename(whole));
  }
}

function isFolder(whole) {
  try {
    return fs.statSync(whole).isDirectory();
  } catch {
    return false;
  }
}

function isBelow(folder, file, rules) {
  if (!folder || !rules.length) return false;
  const inside = path.relative(folder, file);
  const meant = rules.map((rule) => rule.replace(/^~(?=\/)/, os.homedir())).map((rule) => (rule.startsWith(`${folder}/`) ? rule.slice(folder.length) : rule));
  return !inside.startsWith("..") && coversPath(meant, inside);
}

/** Reading and writing name it alike: by what it is, not by one text. As `graph-memory` reads one. */
function namedProject(named) {
  const text = named.trim();
  if (text === "none") return undefined;
  if (FOLDER.test(text)) return { root: text };
  const isRemote = text.includes("://") || SHORT_REMOTE.test(text) || HOST_AND_PATH.test(text);
  return isRemote ? { origin: text } : { name: text };
}

function foundProject(workspace) {
  if (!workspace) return undefined;
  const root = upwards(workspace).find((folder) => fs.existsSync(path.join(folder, ".git")));
  if (!root) return { root: workspace };
  const store = storeOf(root);
  const origin = originOf(store);
  // All worktrees of a repository are one project.
  const whole = path.basename(store) === ".git" ? path.dirname(store) : root;
  return { root: whole, ...(origin ? { origin } : {}) };
}

function upwards(folder) {
  const found = [path.resolve(folder)];
  while (path.dirname(found.at(-1)) !== found.at(-1)) found.push(path.dirname(found.at(-1)));
  return found;
}

/** A worktree's `.git` is a file that names a folder, which names the one with the settings. */
function storeOf(root) {
  let folder = path.join(root, ".git");
  const pointer = /^gitdir: (.+)$/m.exec(readText(folder) ?? "");
  if (pointer) folder = path.resolve(root, pointer[1].trim());
  const common = readText(path.join(folder, "commondir"));
  return common ? path.resolve(folder, common.trim()) : folder;
}

function originOf(store) {
  const lines = (readText(path.join(store, "config")) ?? "").split(/\r?\n/);
  let isOrigin = false;
  for (const line of lines) {
    if (line.trim().startsWith("[")) isOrigin = /^\[remote "origin"\]/.test(line.trim());
    const url = isOrigin ? /^\s*url\s*=\s*(\S.*)$/.exec(line) : null;
    if (url) return url[1].trim();
  }
  return undefined;
}

/** Return what files say of a workspace, the nearest first, up to one by which memory is on. */
function readFiles(workspace) {
  const files = [];
  for (const folder of upwards(workspace)) {
    const told = readFile(path.join(folder, FILE));
    if (told) files.push({ folder, told });
    if (told?.off === false) break;
  }
  return files;
}

/** Return what a file says; undefined without one. Throws for what makes no sense. */
function readFile(file) {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined;
  const told = readToml(fs.readFileSync(file, "utf8"));
  const wrong = told ? Object.keys(told).filter((name) => !isSound(name, told[name])) : ["what it says"];
  if (wrong.length) throw new Error(`${file}: ${wrong.join(", ")} makes no sense, so memory is off there`);
  return told;
}

function isSound(name, value) {
  if (name === "off") return typeof value === "boolean";
  if (name === "exclude") return Array.isArray(value) && !value.includes("");
  return TEXTS.has(name) && typeof value === "string" && value !== "";
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
