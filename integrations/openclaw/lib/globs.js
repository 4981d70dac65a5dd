/** Globs: `*` is anything, `?` one character. In linear steps for each `*`: they are people's. */

/** Return whether a text is what a glob says, all of it. */
export function matches(glob, text) {
  let place = 0, at = 0, star = -1, from = 0;
  while (at < text.length) {
    if (place < glob.length && glob[place] === "*") {
      star = place++;
      from = at;
    } else if (place < glob.length && (glob[place] === "?" || glob[place] === text[at])) {
      place++;
      at++;
    } else if (star >= 0) {
      place = star + 1;
      at = ++from;
    } else {
      return false;
    }
  }
  while (glob[place] === "*") place++;
  return place === glob.length;
}

/** Return whether one of these globs says a text. */
export function anyMatches(globs, text) {
  return globs.some((glob) => matches(glob, text));
}

/** Return a rule as paths from its folder, empty for that itself, however it is written. */
function spellings(rule) {
  const plain = rule.replace(/\/\*\*$/, "").split("/").filter((part) => part && part !== ".").join("/");
  return [plain === "**" ? "" : plain, plain.startsWith("**/") ? plain.slice(3) : plain];
}

/** Return whether a path below a folder is what a rule names, or lies below that. */
export function coversPath(rules, path) {
  const parts = path.replaceAll("\\", "/").split("/").filter((part) => part && part !== ".");
  const places = parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
  const meant = rules.flatMap(spellings);
  return meant.includes("") || places.some((place) => anyMatches(meant, place));
}
