import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { REPOSITORY, sourceFiles } from "../support/sources";

/** Words that messages do not use, each with the word that CONTRIBUTING's glossary has for it. */
const AVOIDED: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\binterfaces?\b/i, "API"],
  [/\broll-outs?\b/i, "rollout"],
  [/\bGPU tiers?\b/i, "GPU pool"],
  [/\bformer(ly)?\b/i, "previous"],
  [/\b(some|any)body\b/i, "someone"],
  [/\bnamesakes?\b/i, "duplicate"],
  [/\bdearest\b/i, "most expensive"],
  [/\bfull[- ]scale\b/i, "maximum cost"],
  [/\bat rest\b/i, "minimum cost"],
  [/\bresponse (was|is) lost\b|\blost response\b/i, "no response"],
];

/** Texts in which the word is the service's own, or means something else. */
const ALLOWED: readonly RegExp[] = [
  // An option of fault rules and a column of the journal.
  /"interface"/,
];

/** A piece of text in a program. */
interface Piece {
  readonly place: string;
  readonly text: string;
}

/** Returns the texts of several words in a file, without imports and types. */
function textsIn(file: string): Piece[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(path.join(REPOSITORY, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const found: Piece[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && /\S \S/.test(node.text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ place: `${file}:${line + 1}`, text: node.text });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

/** Returns the avoided words of texts, as `place: word, say instead`. */
function avoidedIn(pieces: readonly Piece[]): string[] {
  return pieces
    .filter(({ text }) => !ALLOWED.some((allowed) => allowed.test(text)))
    .flatMap(({ place, text }) =>
      AVOIDED.flatMap(([word, instead]) => {
        const found = word.exec(text)?.[0];
        return found === undefined ? [] : [`${place}: "${found}", say "${instead}"`];
      }),
    );
}

test("messages use one word for each concept", () => {
  const pieces = ["sdk", "provider", "plugin", "cli", "emulator"].flatMap((folder) =>
    sourceFiles(folder).flatMap(textsIn),
  );
  expect(pieces.length).toBeGreaterThan(1_000);
  expect(avoidedIn(pieces)).toEqual([]);
});

test("an avoided word is detected", () => {
  const text = "the former settings of the endpoint";
  expect(avoidedIn([{ place: "a.ts:1", text }])).toEqual(['a.ts:1: "former", say "previous"']);
});
