import * as pulumi from "@pulumi/pulumi";
import { keysInPlainText, plainKeysNote } from "../inputWarnings";
import { type Declaration, noteAt } from "../program/programChecks";
import { isUnitTest } from "../program/unitTest";

/** Says once that a container's variables hold what looks like keys in plain text. */
export function noteOfPlainKeys(declaration: Pick<Declaration, "type" | "name" | "options">, env: unknown): void {
  if (env === undefined || env === null || isUnitTest()) return;
  // An unknown value keeps this from running: it may be a reference.
  pulumi.output(env).apply((variables) => {
    const note = plainKeysNote(keysInPlainText(variables));
    if (note !== undefined) noteAt(declaration, note);
  });
}
