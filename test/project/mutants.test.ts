import { readFileSync } from "node:fs";
import path from "node:path";
import { MUTANTS } from "../faults/mutantList";
import { REPOSITORY } from "../support/sources";

const read = (file: string) => readFileSync(path.join(REPOSITORY, file), "utf8");

// `npm run test:faults` runs the mutants.
test.each(
  MUTANTS.map((mutant) => [mutant.name, mutant] as const),
)("the mutant matches the sources and is covered by tests: %s", (_, { file, from, tests }) => {
  expect(read(file).split(from)).toHaveLength(2);
  for (const { file: testFile, title = "test" } of tests) expect(read(testFile)).toContain(title);
});
