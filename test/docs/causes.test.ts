import { CAUSES } from "../../sdk/diagnosis/causes";
import { readPage } from "./markdown";

// If it differs, put the expected rows into docs/troubleshooting.md.
test("the page lists every cause of a wait under the name that diagnoses use", () => {
  const rows = Object.entries(CAUSES).map(
    ([id, { words, atMost, advice }]) => `| \`${id}\` | ${words} | ${atMost} | ${advice} |`,
  );
  const [, section = ""] = readPage("docs/troubleshooting.md").split("## Why jobs and workers wait");
  expect(section.split("\n").filter((line) => line.startsWith("| `"))).toEqual(rows);
});

test("the advice for every cause consists of sentences, the last of which has no period", () => {
  for (const [id, { words, advice }] of Object.entries(CAUSES)) {
    expect([id, /^[A-Z].*[^.]$/s.test(advice)]).toEqual([id, true]);
    expect([id, /^[a-z].*[^.]$/.test(words)]).toEqual([id, true]);
  }
});
