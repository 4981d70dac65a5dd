/** Files that nobody else reads, each there whole or not at all. */
import fs from "node:fs";
import path from "node:path";

/** Make a folder for oneself alone. */
export function makeFolder(folder) {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Return what a file of JSON says; undefined of none, and of half a one. */
export function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Write a file so that it outlives this machine's power. */
export function writeJson(file, value) {
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`);
  writeWhole(beside, value, "w");
  fs.renameSync(beside, file);
}

/** Write a file that nobody wrote yet; false where somebody did. */
export function writeNewJson(file, value) {
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`);
  writeWhole(beside, value, "w");
  try {
    fs.linkSync(beside, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    fs.rmSync(beside, { force: true });
  }
}

function writeWhole(file, value, flags) {
  const opened = fs.openSync(file, flags, 0o600);
  try {
    fs.writeFileSync(opened, JSON.stringify(value));
    fs.fsyncSync(opened);
  } finally {
    fs.closeSync(opened);
  }
}
