import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { errorCodePage, errorCodes, PAGE } from "../../tools/errorCodes.js";
import { REPOSITORY } from "../support/sources";

/** Returns the codes that the type `ErrorCode` adds to those without a class. */
function typedCodes(): string[] {
  const text = readFileSync(path.join(REPOSITORY, "sdk/errors/errorCodes.ts"), "utf8");
  const { statements } = ts.createSourceFile("errorCodes.ts", text, ts.ScriptTarget.Latest, true);
  const [union] = statements.flatMap((each) =>
    ts.isTypeAliasDeclaration(each) && ts.isUnionTypeNode(each.type) ? each.type : [],
  );
  return (union?.types ?? []).flatMap((each) =>
    ts.isLiteralTypeNode(each) && ts.isStringLiteral(each.literal) ? each.literal.text : [],
  );
}

test("the page of error codes is up to date: npm run docs:tables writes it", () => {
  expect(readFileSync(PAGE, "utf8")).toBe(errorCodePage(errorCodes()));
});

test("every error code has one row, and every row has a meaning", () => {
  const rows = errorCodes();
  const ofClasses = rows.filter(({ className }) => className !== "CodedError");
  expect(ofClasses.map(({ code }) => code)).toEqual(typedCodes());
  expect(rows.filter(({ meaning }) => meaning === "").map(({ code }) => code)).toEqual([]);
});
