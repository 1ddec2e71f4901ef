import { keysInPlainText, plainKeysNote } from "../../engine/inputWarnings";
import { type DeclaredResource, noteAt } from "./programChecks";
import { resolveArg } from "./resolvedArgs";
import { isUnitTest } from "./unitTest";

/** Notes once that a container's variables seem to contain keys in plain text. */
export function noteOfPlainKeys(declaration: Pick<DeclaredResource, "type" | "name" | "options">, env: unknown): void {
  if (env === undefined || env === null || isUnitTest()) return;
  // Values that are not yet known count as references. The engine reports outputs that fail.
  void resolveArg(env).then(
    ({ value }) => {
      const note = plainKeysNote(keysInPlainText(value));
      if (note !== undefined) noteAt(declaration, note);
    },
    () => {},
  );
}
