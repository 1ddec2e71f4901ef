import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { echo, type Handler, handlerFor } from "../../../emulator/workers/jobHandlers";
import { loadHandlers } from "../../../emulator/workers/loadHandlers";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "handlers-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);

test("handler files are loaded by name, in every export style", () => {
  write("plain.js", "module.exports = () => 1;");
  write("named.cjs", "exports.handler = () => 2;");
  write("my endpoint.js", "exports.default = () => 3;");
  write("notes.txt", "not a handler");
  write("model.py", "not a handler");
  write("types.d.ts", "export {};");
  const handlers = loadHandlers(folder);
  const results = Object.entries(handlers).map(([name, handler]) => [
    name,
    (handler as Handler)({} as never, {} as never),
  ]);
  expect(Object.fromEntries(results)).toEqual({ plain: 1, named: 2, "my endpoint": 3 });
});

test("a file without a handler fails with an error that says what to export", () => {
  write("broken.js", "module.exports = { size: 1 };");
  expect(() => loadHandlers(folder)).toThrow(/broken\.js exports no handler.*module\.exports =/);
});

test.each([
  [["a.js", "a.mjs"], 'a.js and a.mjs in FOLDER are both the handler of "a": remove one of them'],
  [["a.tsx"], "a.tsx cannot be loaded as a handler: handlers are .js, .cjs, .mjs or .ts files"],
  [["a.py", "b.d.ts"], "FOLDER contains no handlers: <endpoint name or template id> with .js, .cjs, .mjs or .ts"],
])("a folder with %j is refused", (files, message) => {
  for (const file of files) write(file, "");
  expect(() => loadHandlers(folder)).toThrow(message.replace("FOLDER", folder));
});

test("a handler for the endpoint's name takes precedence over one for its template, and both over the default", () => {
  const [name, template, fallback] = [() => 1, () => 2, () => 3];
  const endpoint = { name: "a", templateId: "t", id: "e" };
  expect(handlerFor({ a: name, t: template, default: fallback }, endpoint)).toBe(name);
  expect(handlerFor({ t: template, default: fallback }, endpoint)).toBe(template);
  expect(handlerFor({ e: fallback }, endpoint)).toBe(fallback);
  expect(handlerFor({ default: fallback }, endpoint)).toBe(fallback);
  expect(handlerFor({}, endpoint)).toBe(echo);
  expect(handlerFor(undefined, { name: "toString", templateId: "constructor", id: "valueOf" })).toBe(echo);
});
