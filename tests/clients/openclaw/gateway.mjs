/** A gateway as far as a plugin sees it, and a service that answers as it is told; both fake. */
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

const PLUGIN = process.env.PLUGIN_FOLDER;
const { default: plugin } = await import(path.join(PLUGIN, "index.js"));
export const { default: slot } = await import(path.join(`${PLUGIN}-slot`, "index.js"));
const { forgetRest } = await import(path.join(PLUGIN, "lib", "memory.js"));
export const from = (name) => import(path.join(PLUGIN, "lib", name));

/** Serve answers by path; what was asked is in `asked`, in its order. */
export async function service(answers = {}) {
  const asked = [];
  const server = http.createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const body = text ? JSON.parse(text) : null;
    asked.push({ method: request.method, url: request.url, body, key: request.headers.authorization });
    const answer = answers[request.url.split("?")[0]] ?? (() => ({}));
    const told = await answer(body, request);
    if (told === undefined) return; // hangs
    const { status = 200, headers, ...rest } = told;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(rest));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => { server.closeAllConnections(); server.close(); };
  return { url: `http://127.0.0.1:${server.address().port}`, asked, answers, close };
}

/** An observer that counts what it has, as the service does: no entry twice, none lost. */
export function observer() {
  const sessions = new Map();
  const take = (body) => {
    const known = sessions.get(body.session) ?? [];
    if (body.offset > known.length) throw new Error(`a gap before ${body.offset}`);
    sessions.set(body.session, [...known, ...body.entries.slice(known.length - body.offset)]);
    return { offset: sessions.get(body.session).length };
  };
  return { sessions, take };
}

/** Register the plugin with a fake gateway; `fire` calls its hooks. */
export function gateway(config, { state, which = plugin, wholeConfig = {} } = {}) {
  forgetRest();
  const folder = state ?? fs.mkdtempSync(path.join(os.tmpdir(), "gateway-"));
  const workspace = path.join(folder, "workspace");
  fs.mkdirSync(workspace, { recursive: true });
  const hooks = new Map(), tools = new Map(), warnings = [], made = {};
  const api = {
    pluginConfig: config, config: wholeConfig, logger: { warn: (line) => warnings.push(line) },
    runtime: { state: { resolveStateDir: () => folder } },
    on: (name, act) => hooks.set(name, act),
    registerTool: (make, { names }) => tools.set(names[0], make),
    registerMemoryPromptSupplement: (builder) => { made.prompt = builder; },
    registerMemoryCorpusSupplement: (corpus) => { made.corpus = corpus; },
    registerMemoryCapability: (capability) => { made.capability = capability; },
  };
  const returned = which.register(api);
  const ctx = {
    agentId: "main", sessionKey: "agent:main:main", sessionId: "s1", workspaceDir: workspace, trigger: "user",
  };
  return {
    hooks, tools, warnings, made, returned, ctx, folder, workspace,
    fire: (name, event, more = {}) => hooks.get(name)(event, { ...ctx, ...more }),
    use: (name, given, more = {}) => tools.get(name)({ ...ctx, ...more }).execute("call", given),
    spool: () => list(path.join(folder, "graph-memory", "spool")),
    end: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}

function list(folder) {
  return fs.existsSync(folder) ? fs.readdirSync(folder).sort().map((name) => path.join(folder, name)) : [];
}

let clock = 1_790_000_000_000;
/** Messages of a turn as `agent_end` has them. */
export function turn(said, answered = "Understood.") {
  return [
    { role: "user", content: [{ type: "text", text: said }], timestamp: ++clock },
    { role: "assistant", content: [{ type: "text", text: answered }], timestamp: ++clock },
  ];
}

/** How a gateway stores a person's message: as one text, with another time. */
export function stored(messages) {
  return messages.map((one) =>
    one.role === "user" && Array.isArray(one.content)
      ? { ...one, content: one.content[0].text, timestamp: one.timestamp - 500 } : one,
  );
}
