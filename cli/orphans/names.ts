import { hashedName } from "../../provider/fields/naming";
import { PLUGIN_PREFIX } from "../stack";
import { boundTo, isResourceOf } from "./records";
import type { KnownStack } from "./states";

/** The suffix of automatic names. Names of volumes in the faster tier end with one more word. */
const ENDING = /^(.+)-[0-9a-f]{7}(?:-fast)?$/;

/** The organization of every stack in a self-managed backend. */
const NO_ORGANIZATION = "organization";

/** A stack whose automatic names can be computed. */
interface NamedStack {
  /** `<organization>/<project>/<stack>`. */
  readonly name: string;
  readonly urns: readonly string[];
  readonly unfinished: readonly string[];
  /** `true` if the command line says that the stack no longer exists. */
  readonly hasEnded: boolean;
}

/** The origin of a record, as far as its name shows it. */
export interface Origin {
  /**
   * `true` if the digits are those that this package computes for a stack that no longer exists. A
   * match with an existing stack proves nothing, because a stack of that name in another backend
   * produces the same name.
   */
  readonly isProven: boolean;
  readonly reason: string;
}

/** Returns `true` if a name has the form of an automatic name. */
export function looksAutomatic(name: string): boolean {
  return ENDING.test(name);
}

/** Returns the full name of a stack. An empty state may not show the project. */
export function namedStack({ name, urns, unfinished }: KnownStack): NamedStack {
  // Stacks of the current project are listed by their short name, and Pulumi Cloud omits the
  // project.
  const parts = name.split("/");
  const [stack = ""] = parts.slice(-1);
  const project = parts.length === 3 ? parts[1] : urns[0]?.split("::")[1];
  const organization = parts.length > 1 ? parts[0] : NO_ORGANIZATION;
  return { name: `${organization}/${project ?? ""}/${stack}`, urns, unfinished, hasEnded: false };
}

/**
 * Returns a stack that the command line names as deleted.
 * @throws Error if the name is incomplete, or if the stack exists in one of the backends
 */
export function endedStack(given: string, living: readonly NamedStack[]): NamedStack {
  const [organization, project, stack, ...more] = given.split("/");
  if (!organization || !project || !stack || more.length > 0)
    throw new Error(
      `--ended ${given} must be <organization>/<project>/<stack>; without a Pulumi account, the organization is "organization"`,
    );
  const found = living.find(({ name }) => {
    const [itsOrganization = "", itsProject = "", itsStack] = name.split("/");
    // A listed name may omit the organization and the project.
    const isSame = [organization, NO_ORGANIZATION].includes(itsOrganization) && ["", project].includes(itsProject);
    return isSame && itsStack === stack;
  });
  if (!found) return { name: given, urns: [], unfinished: [], hasEnded: true };
  throw new Error(`--ended ${given}: this stack still exists. Nothing was listed or deleted`);
}

/**
 * Returns the origin of a record, as far as its name shows it.
 * @param type the resource class
 * @param namespaces values of `serverless-gpu:namespace`, which automatic names also depend on
 */
export function originOf(
  name: string,
  type: string,
  stacks: readonly NamedStack[],
  namespaces: readonly string[] = [],
): Origin {
  const endpointName = type === "ServerlessTemplate" ? boundTo(name) : undefined;
  if (endpointName !== undefined) {
    const { isProven, reason } = originOf(endpointName, "ServerlessEndpoint", stacks, namespaces);
    const left = `it was left behind by an endpoint "${endpointName}" that is gone or now has another template`;
    return { isProven, reason: looksAutomatic(endpointName) ? `${left}. About that endpoint: ${reason}` : left };
  }
  const [, logicalName = ""] = ENDING.exec(name) ?? [];
  const own = name.replace(/-fast$/, "");
  const stack = stacks.find((each) => namesIn(each, logicalName, type, namespaces).includes(own));
  if (stack) {
    const reason = `its name is the automatic one of "${logicalName}" in stack ${stack.name}`;
    if (stack.hasEnded) return { isProven: true, reason: `${reason}, which has ended` };
    return {
      isProven: false,
      reason: `${reason}, whose state does not contain its id. A stack with that name in another backend generates the same name`,
    };
  }
  const begun = stacks.find(({ unfinished }) => unfinished.some((urn) => isResourceOf(urn, type, logicalName)));
  if (begun) {
    const reason = `stack ${begun.name} has a pending create of "${logicalName}": its run was killed or is still active`;
    return { isProven: false, reason };
  }
  if (!looksAutomatic(name))
    return {
      isProven: false,
      reason: "its name is not automatic: a person or another tool made it, or a stack has released it (adoptId)",
    };
  return {
    isProven: false,
    reason: "its name looks automatic, but people and other tools can also choose such a name",
  };
}

/** Returns the possible names of a resource, for each form and each parent in the stack. */
function namesIn(
  { name, urns }: NamedStack,
  logicalName: string,
  type: string,
  namespaces: readonly string[],
): string[] {
  const [organization = "", project = "", stack = ""] = name.split("/");
  const urn = `urn:pulumi:${stack}::${project}::${PLUGIN_PREFIX}${type}::${logicalName}`;
  const identities = [
    ...["", ...urns].map((parent) => [organization, project, stack, parent, logicalName]),
    ...[urn, ...urns.filter((each) => isResourceOf(each, type, logicalName))].map((each) => [each]),
  ];
  const beginnings = [[], ...namespaces.map((each) => [each])];
  return beginnings.flatMap((beginning) =>
    identities.map((identity) => hashedName(logicalName, [...beginning, ...identity])),
  );
}
