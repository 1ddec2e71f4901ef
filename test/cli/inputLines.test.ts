import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { countLines, inputLines } from "../../cli/batch/inputLines";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "input-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function read(text: string): Promise<unknown[]> {
  const file = path.join(folder, "in.jsonl");
  await writeFile(file, text);
  const all: unknown[] = [];
  for await (const { given } of inputLines(file)) all.push(given);
  expect(await countLines(file)).toBe(all.length);
  return all;
}

test("a line of 9 MB with a long number in it is an input", async () => {
  const input = { id: "1234567890123456789", text: "x\n".repeat(4_500_000) };
  expect((await read(`${JSON.stringify(input)}\n`)).length).toBe(1);
});

test.each([
  '{"n":9007199254740993}',
  '{"s":"a\\"","n":[1,-9007199254740993]}',
])("an integer that JavaScript would round is refused: %s", async (text) => {
  await expect(read(text)).rejects.toThrow(/line 1 contains -?9007199254740993, which JavaScript would send as/);
});

test.each([
  '{"s":"9007199254740993"}',
  '{"s":"\\\\\\" 9007199254740993"}',
  '{"n":0.1234567890123456789}',
  '{"n":9007199254740993e0}',
])("other long numbers are sent: %s", async (text) => {
  expect(await read(text)).toEqual([JSON.parse(text)]);
});

test("a byte order mark is ignored", async () => {
  expect(await read('\uFEFF{"n":1}\n{"n":2}\n')).toEqual([{ n: 1 }, { n: 2 }]);
});
