import type * as pulumi from "@pulumi/pulumi";
import { FIELDS } from "../../../sdk/endpoints/fields";
import type { InputProblem } from "../../../sdk/errors/errors";
import { listFields } from "../../../sdk/records/fields";
import { TEMPLATE_FIELDS } from "../../../sdk/templates/template";
import { ignoredScheduleProblem } from "../../engine/inputWarnings";

type Options = pulumi.CustomResourceOptions;

/** The alternatives to options that have no effect on a kind of resource. */
interface Instead {
  readonly ofImport: string;
  readonly ofTimeouts: string;
}

const OF_RECORDS: Instead = {
  ofImport: "set adoptId in the arguments to its id, and run `pulumi up`",
  ofTimeouts: "deleteTimeout limits a deletion",
};

/** Kinds of resources whose alternatives differ from the usual ones. */
const OF_OTHERS: Readonly<Record<string, Instead>> = {
  ServerlessEndpoint: {
    ...OF_RECORDS,
    ofTimeouts: "drainTimeout limits a deletion, and awaitReadyTimeout limits how long a create or an update waits",
  },
  SmokeTest: {
    ofImport: "it runs its job when it is created",
    ofTimeouts: "the argument timeout limits the job",
  },
};

const insteadFor = (kind: string) => OF_OTHERS[kind] ?? OF_RECORDS;

/** Inputs that may be lists in a program. The provider converts them to comma-separated strings. */
const LISTS = [FIELDS, TEMPLATE_FIELDS].flatMap(listFields);

/** Returns the problems with resource options, which belong to no argument. */
export function resourceOptionProblems(kind: string, args: object, options: Options): InputProblem[] {
  const { ignoreChanges = [] } = options;
  return [
    ...importProblem(kind, options),
    ...replaceWithProblem(args, options),
    ...ignoredScheduleProblem(args, ignoreChanges),
  ].map((message) => ({ property: "", message }));
}

/**
 * Returns a problem if the option `import` is set, because Pulumi cannot import dynamic resources.
 */
function importProblem(kind: string, options: Options): string[] {
  if (options.import === undefined) return [];
  return [`a ${kind} cannot be imported. Remove the option import: ${insteadFor(kind).ofImport}`];
}

/**
 * Returns a problem if a resource with `adoptId` is to be replaced together with others, because
 * the engine would delete its endpoint before `diff` can prevent it.
 */
function replaceWithProblem(args: object, options: Options): string[] {
  const replaceWith = "replaceWith" in options && Array.isArray(options.replaceWith) ? options.replaceWith : [];
  if (!("adoptId" in args) || args.adoptId === undefined || replaceWith.length === 0) return [];
  return [
    "adoptId cannot be combined with the option replaceWith: a replacement would delete the adopted endpoint. " +
      "Remove adoptId after the adoption, or remove replaceWith",
  ];
}

/**
 * Returns a warning for each list element in `ignoreChanges`, because the engine compares the
 * comma-separated string.
 */
export function ignoredElementWarnings({ ignoreChanges = [] }: Options): string[] {
  const elements = ignoreChanges.filter((path) => LISTS.some((field) => new RegExp(`^${field}[.[]`).test(path)));
  return elements.map(
    (path) =>
      `ignoreChanges: "${path}" has no effect, because Pulumi sees the list as one string. Name the whole field, ` +
      `"${path.split(/[.[]/)[0]}"`,
  );
}

/**
 * Returns a warning if `deletedWith` is set. The engine then skips the deletion, and RunPod does
 * not delete the record on its own.
 */
export function deletedWithWarning(kind: string, { deletedWith }: Options): string[] {
  if (deletedWith === undefined || kind === "SmokeTest") return [];
  return [
    `deletedWith: the service never deletes a ${kind} together with another resource. When that one is deleted in the same ` +
      "run, this one is only removed from state: it stays at the service, and you may still be charged for it",
  ];
}

/**
 * Returns a warning if `customTimeouts` is set, because the engine does not pass it to dynamic
 * providers.
 */
export function customTimeoutsWarning(kind: string, { customTimeouts }: Options): string[] {
  const isSet = Object.values(customTimeouts ?? {}).some((value) => value !== undefined);
  return isSet ? [`customTimeouts has no effect on a ${kind}: ${insteadFor(kind).ofTimeouts}`] : [];
}
