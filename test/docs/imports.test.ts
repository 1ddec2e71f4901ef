import { RESOURCES } from "../../plugin/resources/resources";
import { readPage } from "./markdown";

test("the page about imports marks every resource that the plugin refuses to import", () => {
  const page = readPage("docs/how-to/choose-a-form.md");
  const refusals = [...RESOURCES.values()].flatMap(({ cannotBeImported = [] }) => cannotBeImported);
  const nouns = refusals.map((text) => /^a (.*?) cannot be imported/.exec(text)?.[1]);
  expect(nouns).toEqual(["registry credential", "secret"]);
  expect(page).toMatch(/A registry credential or a `Secret` cannot be imported/);
});
