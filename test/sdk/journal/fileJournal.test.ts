import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileJournal } from "../../../sdk/journal/fileJournal";
import type { JournalBatch, OpenJournal } from "../../../sdk/journal/journal";
import { JournalDamagedError, JournalRefusedError } from "../../../sdk/journal/journalErrors";
import { KeyIndex } from "../../../sdk/journal/keyIndex";
import { journalRules } from "../../support/journalRules";

const named = (...keys: readonly string[]) => keys.map((key) => ({ key }));

const BATCH: JournalBatch = { batch: "pages", endpointId: "e1", keyVersion: "1" };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "journal-"));
  file = path.join(folder, "pages.journal");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function opened<T>(use: (journal: OpenJournal) => Promise<T>): Promise<T> {
  const journal = await fileJournal(file).open(BATCH);
  try {
    return await use(journal);
  } finally {
    await journal.close();
  }
}

describe("a file journal", () => {
  test.each(journalRules.filter(({ needsTwo }) => !needsTwo))("$title", ({ check }) => check(fileJournal(file)));

  test("a file journal ignores an incomplete last line and overwrites it", async () => {
    await opened((journal) => journal.claim("a", named("k1", "k2"), []));
    await appendFile(file, '{"key":"k3","state":"clai');
    await opened(async (journal) => {
      expect(await journal.collect("a", ["k3"])).toEqual([]);
      await journal.claim("a", named("k4"), []);
    });
    await opened(async (journal) => {
      expect((await journal.collect("a", ["k1", "k4"])).map(({ state }) => state)).toEqual(["claimed", "claimed"]);
    });
  });

  test("a file journal refuses a file with a damaged line and leaves it unchanged", async () => {
    await opened((journal) => journal.claim("a", named("k1"), []));
    const text = (await readFile(file, "utf8")).replace('"state"', '"sta\nte"');
    await writeFile(file, text);
    await expect(opened(async () => {})).rejects.toThrow(JournalDamagedError);
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test.each([
    "a letter",
    '{"prompt":"Hi"}\n{"prompt":"Ho"}\n',
    "[1]\n",
  ])("a file journal refuses a foreign file: %j", async (text) => {
    await writeFile(file, text);
    await expect(opened(async () => {})).rejects.toThrow(JournalDamagedError);
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("a file journal refuses another format, and a state that this version does not know", async () => {
    await opened((journal) => journal.claim("a", named("k1"), []));
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace('"serverlessGpuJournal":1', '"serverlessGpuJournal":2'));
    await expect(opened(async () => {})).rejects.toThrow(JournalRefusedError);
    await expect(opened(async () => {})).rejects.toThrow(/has the format 2, .* only format 1/);
    await writeFile(file, text.replace('"claimed"', '"paused"'));
    await expect(opened(async () => {})).rejects.toThrow(JournalDamagedError);
  });

  test("a file journal opens a file with long lines in a time that grows with their length only", async () => {
    await opened(async (journal) => {
      const keys = Array.from({ length: 6 }, (_, n) => `k${n}`);
      await journal.claim("a", named(...keys), []);
      const result = JSON.stringify("x".repeat(15_000_000));
      for (const key of keys) await journal.record("a", [{ key, owner: "a", jobId: "j", state: "settled", result }]);
    });
    const since = process.cpuUsage();
    await opened(async (journal) => {
      expect((await journal.collect("b", ["k5"]))[0]?.isStored).toBe(true);
    });
    // It took four seconds when each chunk of a line was copied again with the next one.
    const { user, system } = process.cpuUsage(since);
    expect((user + system) / 1000).toBeLessThan(2_000);
  });

  test("a file journal moves to a new copy of the file if another process may still have it open", async () => {
    await opened((journal) => journal.claim("a", named("k1"), []));
    const before = await stat(file);
    // A lock whose process was killed before it wrote anything.
    const child = spawn(process.execPath, [path.resolve(__dirname, "../../support/lockProcess.js"), file]);
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    await opened(async (journal) => {
      expect((await journal.collect("b", ["k1"]))[0]?.state).toBe("uncertain");
    });
    expect((await stat(file)).ino).not.toBe(before.ino);
  });

  test("a file journal names both batches when the file belongs to another batch", async () => {
    await opened(async () => {});
    const other = fileJournal(file).open({ ...BATCH, batch: "books" });
    await expect(other).rejects.toThrow(JournalRefusedError);
    await expect(other).rejects.toThrow(/batch "pages".*batch "books"/);
  });

  test("a file journal is compacted without loss once more than half of its lines are outdated", async () => {
    const keys = Array.from({ length: 600 }, (_, n) => `k${n}`);
    await opened(async (journal) => {
      await journal.claim("a", named(...keys), []);
      const changes = keys.map((key) => ({ key, owner: "a", jobId: `job of ${key}`, submittedAt: 5 }));
      await journal.record(
        "a",
        changes.map((each) => ({ ...each, state: "submitted" as const })),
      );
      await journal.record(
        "a",
        changes.slice(1).map((each) => ({ ...each, state: "delivered" as const })),
      );
    });
    const lines = async () => (await readFile(file, "utf8")).trim().split("\n").length;
    expect(await lines()).toBe(1 + 600 + 600 + 599);
    await opened(async (journal) => {
      expect(await lines()).toBe(601);
      const entries = await journal.collect("b", keys);
      expect(entries.map(({ state, jobId }) => `${state} ${jobId}`)).toEqual(
        keys.map((key, n) => `${n === 0 ? "submitted" : "delivered"} job of ${key}`),
      );
    });
  });

  test("a file journal leaves only the journal file behind", async () => {
    await opened((journal) => journal.claim("a", named("k1"), []));
    expect(await readdir(folder)).toEqual(["pages.journal"]);
  });
});

describe("the lock of a file journal", () => {
  test("the lock of a file journal refuses a second user within the same process", async () => {
    await opened(async () => {
      await expect(fileJournal(file).open(BATCH)).rejects.toThrow(expect.objectContaining({ code: "JOURNAL_LOCKED" }));
    });
    await opened(async () => {});
  });

  test("the lock of a file journal refuses a second process, and is released as soon as the first process is killed", async () => {
    const program = `
      require("@swc/core"); const { transformSync } = require("@swc/core"); const { readFileSync } = require("fs");
      require.extensions[".ts"] = (module, name) => module._compile(transformSync(readFileSync(name, "utf8"), { filename: name,
        jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } }).code, name);
      const { fileJournal } = require("./sdk/journal/fileJournal.ts");
      fileJournal(process.argv[1]).open(${JSON.stringify(BATCH)}).then((journal) => journal.claim("a", [{ key: "k1" }], []))
        .then(() => console.log("held")); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ["-e", program, file], { stdio: ["ignore", "pipe", "inherit"] });
    await once(holder.stdout, "data");
    const refused = opened(async () => {});
    await expect(refused).rejects.toThrow(expect.objectContaining({ code: "JOURNAL_LOCKED" }));
    await expect(refused).rejects.toThrow(`process ${holder.pid} `);
    const exit = once(holder, "exit");
    holder.kill("SIGKILL");
    await exit;
    const takers = await Promise.allSettled([1, 2, 3, 4].map(() => fileJournal(file).open(BATCH)));
    const winners = takers.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(winners).toHaveLength(1);
    expect((await winners[0]?.collect("b", ["k1"]))?.[0]?.state).toBe("uncertain");
    await winners[0]?.close();
  });
});

test("the index of keys finds every key and uses little memory", () => {
  const index = new KeyIndex();
  for (let n = 0; n < 20_000; n++) index.set(`key ${n % 10_000}`, n);
  expect(index.size).toBe(10_000);
  expect([index.get("key 0"), index.get("key 9999"), index.get("key 10000")]).toEqual([10_000, 19_999, undefined]);
});
