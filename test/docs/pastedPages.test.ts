import { PRESUMED, pagesWithCommands, planOf, SKIPPED } from "../../tools/pastePages/pages";
import { codeBlocks, pages } from "./markdown";

test("the commands of each page are run as pasted, or the page states why they are not", () => {
  const withCommands = pages().filter((page) => codeBlocks(page).some(({ language }) => language === "sh"));
  expect(withCommands.filter((page) => !pagesWithCommands().includes(page))).toEqual([]);
  for (const page of pagesWithCommands()) {
    const { pasted, skipped, reason } = planOf(page);
    expect({ page, isPlanned: pasted.length > 0 || (skipped.length > 0 && reason !== "") }).toEqual({
      page,
      isPlanned: true,
    });
  }
});

test("every page with skipped or presumed commands still contains those commands", () => {
  const named = [...Object.keys(SKIPPED), ...Object.keys(PRESUMED)];
  expect(named.filter((page) => !pagesWithCommands().includes(page))).toEqual([]);
  for (const page of Object.keys(SKIPPED)) {
    expect({ page, skipped: planOf(page).skipped.length }).not.toEqual({ page, skipped: 0 });
  }
});
