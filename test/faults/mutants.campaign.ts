import { MUTANTS } from "./mutantList";
import { runTests } from "./mutants";

const ONLY = process.env.MUTANTS_ONLY;
const chosen = MUTANTS.filter(({ name }) => ONLY === undefined || name.includes(ONLY));

test.each(chosen.map((mutant) => [mutant.name, mutant] as const))(
  "a mutant is noticed: %s",
  async (_, mutant) => {
    for (const { file, failed, passed } of await runTests(mutant, { isMutated: false })) {
      expect({ file, failed, hasTests: passed > 0 }).toEqual({ file, failed: 0, hasTests: true });
    }
    for (const { file, failed } of await runTests(mutant, { isMutated: true })) {
      expect({ file, isNoticed: failed > 0 }).toEqual({ file, isNoticed: true });
    }
  },
  3_600_000,
);
