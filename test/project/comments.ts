import ts from "typescript";

const COLUMNS = 100;

/**
 * Returns the lines that contain only a comment and are longer than 100 columns, as `file:line`.
 * Examples, instructions to Biome and lines of one word may be longer, because a line break would
 * change them.
 */
export function longComments(text: string, file: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const found = new Set<number>();
  for (const [start, comment] of commentsOf(source)) {
    const first = source.getLineAndCharacterOfPosition(start).line;
    const before = text.slice(source.getPositionOfLineAndCharacter(first, 0), start);
    if (before.trim() !== "") continue;
    let isExample = false;
    for (const [index, line] of `${before}${comment}`.split("\n").entries()) {
      const tag = /^[\s/*]*@(\w+)/.exec(line)?.[1];
      if (tag) isExample = tag === "example";
      // A type cannot be wrapped.
      const isType = /^[\s/*]*@(typedef|param) \{.{60,}\}/.test(line);
      const isFixed = isExample || isType || line.includes("biome-ignore") || line.trim().split(/\s+/).length <= 2;
      if (line.length > COLUMNS && !isFixed) found.add(first + index + 1);
    }
  }
  return [...found].map((line) => `${file}:${line}`);
}

/** Returns the comments in a program, by their positions. */
function commentsOf(source: ts.SourceFile): Map<number, string> {
  const { text } = source;
  const comments = new Map<number, string>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? [])
      comments.set(pos, text.slice(pos, end));
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  return comments;
}

/** A title of a test, and where it is. */
export interface Title {
  readonly place: string;
  readonly title: string;
}

/** Returns the titles of the tests in a file, without those of their groups. */
export function titlesOf(text: string, file: string): Title[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const titles: Title[] = [];
  const visit = (node: ts.Node): void => {
    const [title] = ts.isCallExpression(node) && /^test\b/.test(node.expression.getText()) ? node.arguments : [];
    if (title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) {
      const line = source.getLineAndCharacterOfPosition(title.getStart()).line + 1;
      titles.push({ place: `${file}:${line}`, title: title.getText().slice(1, -1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}
