/** What of a session stays here: what tools did with files for which memory is off. */
import fs from "node:fs";
import path from "node:path";
import { matches } from "./globs.js";

// What an agent writes of its own accord: it names files and is none.
const WRITTEN = new Set([
  "content", "contents", "old_string", "new_string", "oldText", "newText", "text", "file_text",
  "prompt", "description", "subject", "todos", "plan", "explanation", "justification", "message",
  "data", "edits",
]);
const WORD = /[^\0\s'"`()<>|&;=,{}@:[\]]+/g;
// What stands before a colon, as searches write where they found something, and whole lines.
const BEGINNING = /^([^\0\n:]{1,300})(?::|$)/gm;
const PATCHED = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (\S.*)/gm;
const BEGIN_PATCH = "*** Begin Patch";
const MOST_PATH = 4096;
const MOST_FOLDERS = 8;
const MOST_EXPANDED = 500;

/**
 * Return messages without calls of tools that name a file for which memory is off, and without what
 * came back from them, or names one. Of a call that is not among all messages it is not known what
 * it read.
 */
export function withoutIgnored(all, messages, place) {
  const calls = new Map(all.flatMap(blocksOf).filter(isCall).map((block) => [block.id, block]));
  const known = new Map();
  // The folders that a call named; none of one that is left out. A session may have many.
  const folders = (id) => {
    if (!known.has(id)) known.set(id, calls.has(id) ? foldersOf(calls.get(id).arguments, place) : null);
    return known.get(id);
  };
  return messages.flatMap((message) => {
    if (isResult(message)) return isKept(message, folders(message.toolCallId), place) ? [message] : [];
    const kept = blocksOf(message).filter((block) => !isCall(block) || folders(block.id));
    if (kept.length === blocksOf(message).length) return [message];
    return kept.length ? [{ ...message, content: kept }] : [];
  });
}

function blocksOf(message) {
  return Array.isArray(message?.content) ? message.content : [];
}

function isCall(block) {
  return block?.type === "toolCall";
}

function isResult(message) {
  return message?.role === "toolResult" || message?.role === "tool";
}

function isKept(message, folders, place) {
  return Boolean(folders) && ![...textsIn(message.content)].some((text) => isTold(text, folders, place));
}

/** Return the folders that a call names, beside the workspace; null where it names such a file. */
function foldersOf(given, place) {
  const words = [...textsIn(given)].flatMap(wordsOf);
  const folders = [""];
  for (const word of words) {
    for (const folder of [...folders]) {
      const whole = path.join(folder && !path.isAbsolute(word) ? folder : "", word);
      if (folders.length < MOST_FOLDERS && !folders.includes(whole) && place.isFolder(whole)) folders.push(whole);
    }
  }
  const isOff = words.some((word) => isNamed(word, folders, place) || expanded(word, folders, place));
  return isOff ? null : folders;
}

/** Return whether a text that came back names such a file. */
function isTold(text, folders, place) {
  const words = (text.match(WORD) ?? []).filter((word) => /[/.]/.test(word)).map((word) => word.replace(/\.$/, ""));
  const all = new Set([...words, ...beginnings(text)]);
  return [...all].some((word) => isNamed(word, folders, place));
}

function isNamed(word, folders, place) {
  const names = /^[ab]\//.test(word) ? [word, word.slice(2)] : [word];
  return names.some((name) => name && folders.some((folder) => place.excludes(inside(folder, name))));
}

function inside(folder, name) {
  return !folder || path.isAbsolute(name) || name.startsWith("~") ? name : path.join(folder, name);
}

/** Return whether a pattern of a shell means such a file. */
function expanded(word, folders, place) {
  if (word.length > 300 || !/[*?[]/.test(word)) return false;
  return folders.some((folder) => filesOf(inside(folder, word), place).some((file) => place.excludes(file)));
}

function filesOf(pattern, place) {
  const parts = pattern.split("/");
  return parts.reduce((found, part, index) => {
    const more = found.flatMap((folder) => (/[*?[]/.test(part) ? entriesOf(folder, part, place) : [folder + part]));
    return more.slice(0, MOST_EXPANDED).map((file) => (index < parts.length - 1 ? `${file}/` : file));
  }, [""]);
}

function entriesOf(folder, part, place) {
  try {
    const names = fs.readdirSync(place.whole(folder || "."));
    // Of what stands between brackets any character will do.
    const glob = part.replace(/\[[^\]]*\]/g, "?");
    return names.filter((name) => matches(glob, name)).map((name) => folder + name);
  } catch {
    return [];
  }
}

function* textsIn(value) {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const one of value) yield* textsIn(one?.type === "text" ? one.text : one);
  else if (value && typeof value === "object") {
    for (const [name, one] of Object.entries(value)) if (!WRITTEN.has(name)) yield* textsIn(one);
  }
}

function beginnings(text) {
  return [...text.matchAll(BEGINNING)].map((found) => found[1]);
}

/** Return what may be a path in a command, or in another text that a tool was given. */
function wordsOf(text) {
  // What a patch writes names files and is none.
  const patched = text.includes(BEGIN_PATCH);
  const said = patched ? [text.split(BEGIN_PATCH)[0], ...[...text.matchAll(PATCHED)].map((one) => one[1])].join("\n") : text;
  const words = [said, ...beginnings(said), ...(said.match(WORD) ?? []), ...unquoted(said)];
  return [...new Set(words)].filter((word) => word && word.length < MOST_PATH && !word.includes("\0"));
}

/** Return the words of a command as a shell has them, without quotes. */
function unquoted(text) {
  const found = text.match(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/gs) ?? [];
  return found.filter((word) => /['"\\]/.test(word)).map((word) => word.replace(/\\(.)|['"]/gs, "$1"));
}
