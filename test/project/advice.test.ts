import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { advice } from "../support/advice";
import { REPOSITORY } from "../support/sources";

/** Returns the list's lines under each heading. */
function listed(): Map<string, string[]> {
  const [, ...groups] = readFileSync(path.join(__dirname, "advice.txt"), "utf8").split("\n# ");
  return new Map(
    groups.map((group) => {
      const [heading = "", ...lines] = group.split("\n");
      return [heading, lines.filter(Boolean)];
    }),
  );
}

test("Every piece of advice in the source is in advice.txt, under the test that plays it or with the reason why none does.", () => {
  const inSource = advice().map(({ place, text }) => `${place.replace(/:\d+$/, "")}: ${text}`);
  expect([...listed().values()].flat().sort()).toEqual([...new Set(inSource)].sort());
});

test("Every test that advice.txt names exists.", () => {
  const files = [...listed().keys()].flatMap((heading) => heading.match(/test\/\S+\.ts$/)?.[0] ?? []);
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !existsSync(path.join(REPOSITORY, file)))).toEqual([]);
});
