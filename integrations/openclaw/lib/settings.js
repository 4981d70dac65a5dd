/** What a person set for the plugin, with what holds where they said nothing. */

/** Others listen there: no memory in groups and channels, unless it is asked for. */
export const IGNORED = ["*:group:*", "*:channel:*", "*:room:*", "*:thread:*"];
/** Nobody types there: nothing is told or kept unasked. */
export const TOOLS_ONLY = ["*:subagent:*", "*:cron:*", "cron:*", "*:hook:*", "hook:*", "*:acp:*"];

/**
 * @param {unknown} config `plugins.entries.graph-memory.config`
 * @param {unknown} connection what `graph-memory connect` wrote down; what a person set goes before
 * @returns settings, each of its type whatever was written
 */
export function readSettings(config, connection) {
  const told = connected(config && typeof config === "object" ? config : {}, connection ?? {});
  return {
    baseUrl: text(told.baseUrl, "http://127.0.0.1:8080").replace(/\/{1,9}$/, ""),
    apiKey: text(told.apiKey, ""),
    isKeyUnresolved: Boolean(told.apiKey) && typeof told.apiKey !== "string",
    agents: texts(told.agents),
    project: text(told.project, ""),
    autoRecall: told.autoRecall !== false,
    autoCapture: told.autoCapture !== false,
    contextChars: whole(told.contextChars, 6000, 0, 9500),
    recallChars: whole(told.recallChars, 6000, 0, 9500),
    timeoutMs: whole(told.timeoutMs, 4000, 200, 10_000),
    ignoreSessions: list(told.ignoreSessions, IGNORED),
    toolsOnlySessions: list(told.toolsOnlySessions, TOOLS_ONLY),
    ignoreFiles: list(told.ignoreFiles, []),
  };
}

/** A key goes with its address alone. */
function connected(told, { url, key }) {
  if (typeof url !== "string" || (told.baseUrl && told.baseUrl !== url)) return told;
  return { ...told, baseUrl: url, apiKey: told.apiKey || key };
}

function text(value, otherwise) {
  return typeof value === "string" && value.trim() ? value.trim() : otherwise;
}

function texts(value) {
  const pairs = value && typeof value === "object" ? Object.entries(value) : [];
  return new Map(pairs.filter(([, name]) => typeof name === "string" && name));
}

function whole(value, otherwise, least, most) {
  return Number.isInteger(value) ? Math.min(most, Math.max(least, value)) : otherwise;
}

function list(value, otherwise) {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string" && one) : otherwise;
}
