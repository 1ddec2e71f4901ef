import * as pulumi from "@pulumi/pulumi";

type Options = pulumi.CustomResourceOptions;

/** The way to do what the option `import` cannot, for each kind of resource. */
const INSTEAD_OF_IMPORT = {
  ServerlessEndpoint: "set adoptId to the id of the endpoint in the arguments, and run `pulumi up`",
  SmokeTest: "it runs its job when it is created",
};

/** Inputs that say how long something may take, for each kind of resource. */
const INSTEAD_OF_TIMEOUTS = {
  ServerlessEndpoint: "drainTimeout limits a deletion and awaitReadyTimeout a create or an update that waits",
  SmokeTest: "the argument timeout limits the job",
};

/** Inputs that programs may write as a list, and that the provider turns into a comma list. */
const LISTS = ["gpuIds", "locations"];

/** Throws when the option `import` is set, with which Pulumi fails for every dynamic resource. */
export function refuseImport(kind: keyof typeof INSTEAD_OF_IMPORT, name: string, options: Options): void {
  if (options.import === undefined) return;
  throw new pulumi.RunError(
    `"${name}": a ${kind} cannot be imported; take the option import out: ${INSTEAD_OF_IMPORT[kind]}`,
  );
}

/**
 * Throws when a resource with `adoptId` is to be replaced together with others: the engine then deletes its endpoint
 * before it says that the program adopts it again.
 */
export function refuseReplaceWith(name: string, args: object, options: Options): void {
  const { replaceWith } = options as { readonly replaceWith?: readonly unknown[] };
  if (!("adoptId" in args) || args.adoptId === undefined || !replaceWith?.length) return;
  throw new pulumi.RunError(
    `"${name}": adoptId and the option replaceWith exclude each other: a replacement would delete the adopted endpoint. ` +
      "Take adoptId out once the endpoint is adopted, or take replaceWith out",
  );
}

/** A warning for each element of a list that is to be ignored: the engine looks for it in the comma list. */
export function ignoredElementWarnings({ ignoreChanges = [] }: Options): string[] {
  const elements = ignoreChanges.filter((path) => LISTS.some((field) => new RegExp(`^${field}[.[]`).test(path)));
  return elements.map(
    (path) =>
      `ignoreChanges: "${path}" has no effect, because the list is one comma list to Pulumi: name the whole field, ` +
      `"${path.split(/[.[]/)[0]}"`,
  );
}

/** A warning when `customTimeouts` is set: the engine does not tell dynamic providers about it. */
export function customTimeoutsWarning(kind: keyof typeof INSTEAD_OF_TIMEOUTS, { customTimeouts }: Options): string[] {
  const isSet = Object.values(customTimeouts ?? {}).some((value) => value !== undefined);
  return isSet ? [`customTimeouts has no effect on a ${kind}: ${INSTEAD_OF_TIMEOUTS[kind]}`] : [];
}
