import { adviceOn, CAUSE_IDS, WORDS } from "../../sdk/diagnosis/causes";
import { PROOFS } from "../../sdk/diagnosis/rules";
import { readPage } from "./markdown";

/** Returns the rows of the table below a heading. */
function rowsBelow(heading: string): string[] {
  const [, section = ""] = readPage("docs/troubleshooting.md").split(heading);
  const [own = ""] = section.split(/^##/m);
  return own.split("\n").filter((line) => line.startsWith("| `"));
}

// If one of these differs, put the expected rows into docs/troubleshooting.md.
test("the page lists every cause of a wait under the name that diagnoses use", () => {
  const atMost = (id: (typeof CAUSE_IDS)[number]) => (PROOFS[id] ? "certain" : id === "unknown" ? "unknown" : "likely");
  const rows = CAUSE_IDS.map(
    (id) => `| \`${id}\` | ${WORDS[id]} | ${atMost(id)} | ${adviceOn(id, "<endpoint>").replaceAll("<", "\\<")} |`,
  );
  expect(rowsBelow("## Why jobs and workers wait")).toEqual(rows);
});

test("the page lists every cause that can be certain, with its proof", () => {
  const rows = CAUSE_IDS.flatMap((id) => (PROOFS[id] ? [`| \`${id}\` | ${PROOFS[id][0]} |`] : []));
  expect(rowsBelow("### When a cause is certain")).toEqual(rows);
});

test("the advice for every cause consists of sentences, the last of which has no period", () => {
  for (const id of CAUSE_IDS) {
    for (const isOnGpus of [true, false])
      expect([id, /^[A-Z][^{}]*[^.]$/s.test(adviceOn(id, "abc", isOnGpus))]).toEqual([id, true]);
    expect([id, /^[a-z].*[^.]$/.test(WORDS[id])]).toEqual([id, true]);
  }
});

test("no advice for an endpoint on CPUs speaks of GPUs", () => {
  const ofGpus = ["gpu-ids", "cuda-version", "no-stock"];
  const others = CAUSE_IDS.filter((id) => !ofGpus.includes(id));
  expect(others.filter((id) => /GPU|gpuIds|CUDA/.test(adviceOn(id, "abc", false)))).toEqual([]);
});
