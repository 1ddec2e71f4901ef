import { pages, readPage } from "./markdown";

/** How many words may stand before the first code or command of a page that shows how. */
const LIMIT = 60;

const SHOWS_HOW = /^(README|docs\/(tutorial|how-to\/.*|resources\/.*))\.md$/;

/** Returns the number of words before the first block of code. */
function wordsBeforeCode(text: string): number {
  const [before = ""] = text.split(/^```/m);
  return before.split(/\s+/).filter((word) => word !== "").length;
}

test("how-to pages begin with code or a command", () => {
  const found = pages().filter((page) => SHOWS_HOW.test(page));
  expect(found.length).toBeGreaterThan(25);
  const late = found.map((page) => ({ page, words: wordsBeforeCode(readPage(page)) }));
  expect(late.filter(({ words }) => words > LIMIT)).toEqual([]);
});

test("words after the first code block are not counted", () => {
  expect(wordsBeforeCode("# A page\n\nTwo words.\n\n```sh\nls\n```\n\nAnd more of them.")).toBe(5);
});
