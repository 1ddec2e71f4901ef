import { uniqueNames } from "../source";
import type { LeftOut, Successor } from "./successors";

/** A file for `pulumi import --file`, and what it leaves out. */
export interface ImportFile {
  readonly json: string;
  readonly leftOut: readonly LeftOut[];
}

const NO_IMPORT =
  "a registry credential cannot be imported, because the service does not show its password. Declare it with " +
  "adoptId and its user and password";

/**
 * Returns the file with which the plugin's `pulumi import --file` adopts these records and writes
 * the program in any language.
 */
export function importFile(successors: readonly Successor[]): ImportFile {
  const isOfAccount = ({ old }: Successor) => old.provider === undefined;
  const importable = successors.filter((each) => each.kind !== "ContainerRegistryAuth" && isOfAccount(each));
  const logicalName = uniqueNames("resource");
  const resources = importable.map(({ kind, id, old }) => ({
    type: `serverless-gpu:index:${kind}`,
    name: logicalName(old.name),
    id,
  }));
  const leftOut = successors
    .filter((each) => !importable.includes(each))
    .map((each) => ({
      old: each.old,
      reason: isOfAccount(each)
        ? NO_IMPORT
        : `it has the explicit provider "${each.old.provider}": import it with --provider, by hand`,
    }));
  return { json: `${JSON.stringify({ resources }, null, 2)}\n`, leftOut };
}
