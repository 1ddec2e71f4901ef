import { uniqueNames } from "../source";
import type { Successor, SuccessorKind } from "./successors";

/** Kinds that RunPod does not show completely, with the reason. */
const NO_IMPORT: Partial<Readonly<Record<SuccessorKind, string>>> = {
  ContainerRegistryAuth:
    "a registry credential cannot be imported, because the service does not show its password. Declare it with " +
    "adoptId and its user and password",
  Secret:
    "a secret cannot be imported, because the service does not show its value. Declare it with adoptId and its value",
};

/** Returns why `pulumi import --file` cannot adopt the record, or `undefined` if it can. */
export function importProblem({ kind, old: { provider } }: Successor): string | undefined {
  if (provider !== undefined) return `it has the explicit provider "${provider}": import it with --provider, by hand`;
  return NO_IMPORT[kind];
}

/**
 * Returns a file for the plugin's `pulumi import --file`, which adopts these records and writes the
 * program in any language.
 */
export function importFile(successors: readonly Successor[]): string {
  const logicalName = uniqueNames("resource");
  const resources = successors.map(({ kind, id, old }) => ({
    type: `serverless-gpu:index:${kind}`,
    name: logicalName(old.name),
    id,
  }));
  return `${JSON.stringify({ resources }, null, 2)}\n`;
}
