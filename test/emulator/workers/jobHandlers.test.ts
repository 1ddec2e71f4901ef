import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { echo, type Handler, handlerFor, loadHandlers } from "../../../emulator/workers/jobHandlers";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "handlers-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);

test("files are loaded by their names, however they export their handler", () => {
  write("plain.js", "module.exports = () => 1;");
  write("named.cjs", "exports.handler = () => 2;");
  write("my endpoint.js", "exports.default = () => 3;");
  write("notes.txt", "not a handler");
  const handlers = loadHandlers(folder);
  const results = Object.entries(handlers).map(([name, handler]) => [
    name,
    (handler as Handler)({} as never, {} as never),
  ]);
  expect(Object.fromEntries(results)).toEqual({ plain: 1, named: 2, "my endpoint": 3 });
});

test("a file without a handler is an error that says what to export", () => {
  write("broken.js", "module.exports = { size: 1 };");
  expect(() => loadHandlers(folder)).toThrow(/broken\.js exports no handler.*module\.exports =/);
});

test("the endpoint's name wins over its template, and those over the default", () => {
  const [name, template, fallback] = [() => 1, () => 2, () => 3];
  const endpoint = { name: "a", templateId: "t", id: "e" };
  expect(handlerFor({ a: name, t: template, default: fallback }, endpoint)).toBe(name);
  expect(handlerFor({ t: template, default: fallback }, endpoint)).toBe(template);
  expect(handlerFor({ e: fallback }, endpoint)).toBe(fallback);
  expect(handlerFor({ default: fallback }, endpoint)).toBe(fallback);
  expect(handlerFor({}, endpoint)).toBe(echo);
  expect(handlerFor(undefined, { name: "toString", templateId: "constructor", id: "valueOf" })).toBe(echo);
});
