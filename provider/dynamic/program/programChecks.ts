import * as pulumi from "@pulumi/pulumi";
import { ConfigurationError, type InputProblem } from "../../../sdk/errors/errors";
import { NO_SUCH_PROPERTY } from "../../../sdk/records/fields";
import { UNKNOWN } from "../../engine/properties";
import { missingHandlers } from "./handlersModule";
import {
  customTimeoutsWarning,
  deletedWithWarning,
  ignoredElementWarnings,
  resourceOptionProblems,
} from "./optionChecks";
import { earlierRefusal, refuse } from "./refusal";
import { areChangedLater } from "./transforms";
import { isUnitTest } from "./unitTest";

/** A resource as the program declares it, before it is registered. */
export interface DeclaredResource {
  /** The class name, for messages. */
  readonly kind: string;
  readonly type: string;
  readonly name: string;
  readonly args: object;
  readonly options: pulumi.CustomResourceOptions;
  /** Problems that the constructor found. */
  readonly problems?: readonly InputProblem[];
  /** Returns the problems with the arguments. Unknown values are replaced by `unknown`. */
  readonly findProblems: (values: Values, unknown: unknown) => InputProblem[];
}

/** Arguments by name. */
type Values = Record<string, unknown>;

/** Declarations from one turn of the event loop. They are checked together. */
interface Batch {
  readonly declared: { readonly declaration: DeclaredResource; readonly values: KnownValues }[];
  /**
   * Settles when all declarations are checked. If there are problems, it rejects after the engine
   * has refused the program: the engine would otherwise delete what the program does not declare.
   */
  readonly verdict: Promise<void>;
}

/** The arguments whose values the program knows before any resource exists. */
interface KnownValues {
  readonly known: Values;
  /** The names of arguments whose values must not be shown. */
  readonly secret: ReadonlySet<string>;
}

/**
 * How long a message waits for the URN of its resource's parent, which may never be registered, in
 * milliseconds.
 */
const URN_WAIT_MS = 2000;

/** How long writing a log line may take, in milliseconds. */
const LOG_WAIT_MS = 5000;

const batches = new WeakMap<object, Batch>();
const OUTSIDE_A_STACK = {};

/**
 * Checks the arguments whose values the program knows before any resource exists. The engine ends a
 * program at the first resource that its provider rejects. This function therefore reports the
 * problems of all resources first, and then refuses the program.
 * @returns the options to register the resource with, which make it wait until the whole batch has
 * been checked
 * @throws RunError if there are problems in a unit test with mocks
 */
export function checkedOptions(original: DeclaredResource): pulumi.CustomResourceOptions {
  const { options, kind } = original;
  const problems = [
    ...missingHandlers(),
    ...resourceOptionProblems(kind, original.args, options),
    ...(original.problems ?? []),
  ];
  const isFinal = !areChangedLater(options);
  const declaration = { ...original, problems, ...(!isFinal && { findProblems: () => [] }) };
  for (const warning of [
    ...ignoredElementWarnings(options),
    ...unknownIgnored(original),
    ...customTimeoutsWarning(kind, options),
    ...deletedWithWarning(kind, options),
  ]) {
    warnAt(declaration, warning);
  }
  if (!isFinal && problems.length === 0) return options;
  const values = knownValues(declaration.args);
  if (isUnitTest()) {
    throwProblems(declaration, values);
    return options;
  }
  const batch = currentBatch();
  batch.declared.push({ declaration, values });
  // If a dependency fails, the registration ends with the same error, which Pulumi then prints only
  // once.
  const dependsOn = batch.verdict.then(() => options.dependsOn ?? []) as Promise<pulumi.Resource[]>;
  return { ...options, dependsOn };
}

/** Returns this program's current batch. Each program in a process has its own. */
function currentBatch(): Batch {
  const program: object = pulumi.runtime.getStackResource() ?? OUTSIDE_A_STACK;
  const existing = batches.get(program);
  if (existing) return existing;
  const declared: Batch["declared"] = [];
  // Rejects without a throwing function; see functions/invoke.ts.
  const verdict = new Promise<void>((resolve, reject) => {
    setImmediate(() => {
      batches.delete(program);
      report(declared).then((failure) => {
        const refusal = failure ? refuse(failure) : earlierRefusal();
        refusal.then((ended) => (ended ? reject(ended) : resolve()));
      }, reject);
    });
  });
  const batch = { declared, verdict };
  batches.set(program, batch);
  return batch;
}

/**
 * Logs every problem with its resource, and waits until the lines have been written or printed,
 * because the refusal that follows ends the program.
 * @returns the error that ends the program; `undefined` if there are no problems
 */
async function report(declared: Batch["declared"]): Promise<Error | undefined> {
  const broken = declared.flatMap(({ declaration, values }) => {
    const problems = problemsOf(declaration, values);
    return problems.length > 0 ? [{ declaration, problems }] : [];
  });
  if (broken.length === 0) return undefined;
  const urns = await Promise.all(broken.map(({ declaration }) => Promise.race([urnOf(declaration), noUrn()])));
  const logs = broken.flatMap(({ declaration, problems }, index) =>
    problems.map(({ property, message }) =>
      logError(`"${declaration.name}": ${sentence(property, message)}`, resourceAt(urns[index])),
    ),
  );
  await Promise.all(logs);
  const names = broken.map(({ declaration }) => `"${declaration.name}"`).join(", ");
  const failure = new pulumi.RunError(`fix the problems with ${names} that the errors above describe`);
  failure.stack = failure.message;
  return failure;
}

/**
 * Logs an error. Pulumi writes log lines in order, and an earlier one may be waiting for a resource
 * that will never be registered. In that case, the error is printed instead.
 */
function logError(text: string, resource: pulumi.Resource | undefined): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      console.error(text);
      resolve();
    }, LOG_WAIT_MS);
    pulumi.log.error(text, resource).then(() => {
      clearTimeout(late);
      resolve();
    });
  });
}

function throwProblems(declaration: DeclaredResource, values: KnownValues): void {
  const problems = problemsOf(declaration, values);
  if (problems.length === 0) return;
  const text = problems.map(({ property, message }) => sentence(property, message)).join("; ");
  throw new pulumi.RunError(`the arguments of "${declaration.name}" are invalid: ${text}`);
}

/** A config problem has no property. Its message names the setting. */
function sentence(property: string, message: string): string {
  return property === "" ? message : `${property} ${message}`;
}

function problemsOf(declaration: DeclaredResource, { known, secret }: KnownValues): InputProblem[] {
  const { args, options, problems = [], findProblems } = declaration;
  const declared = Object.keys(args).map((name) => [name, Object.hasOwn(known, name) ? known[name] : UNKNOWN]);
  // The engine replaces ignored fields with their old values, which are not known here.
  const fields = ignoredFields(options);
  if (fields.includes("*")) return [...problems];
  const ignored = fields.map((field) => [field, UNKNOWN]);
  const marked = secret.size > 0 ? [["__secretInputs", [...secret].sort().join()]] : [];
  const values = Object.fromEntries([...declared, ...ignored, ...marked]);
  const all = problemsOrConfigError(() => findProblems(values, UNKNOWN));
  // What is wrong whatever the secret values are says nothing about them.
  const hidden = Object.fromEntries([...secret].map((name) => [name, UNKNOWN]));
  const whatever = secret.size > 0 ? problemsOrConfigError(() => findProblems({ ...values, ...hidden }, UNKNOWN)) : [];
  const isOfValue = ({ property, message }: InputProblem) =>
    secret.has(property) && !whatever.some((each) => each.property === property && each.message === message);
  // A field that the program only ignores may have no value at all.
  const isDeclared = (property: string) => Object.hasOwn(args, property) || !fields.includes(property);
  const found = all
    .filter(({ property }) => isDeclared(property))
    .map((problem) =>
      isOfValue(problem)
        ? { property: problem.property, message: "has an invalid value, which is secret and not shown" }
        : problem,
    );
  return [...problems, ...found];
}

/**
 * Returns a warning for each unknown property in `ignoreChanges`. Pulumi accepts such names, so the
 * resource is not rejected.
 */
function unknownIgnored({ kind, args, options, findProblems }: DeclaredResource): string[] {
  const fields = ignoredFields(options).filter((field) => !Object.hasOwn(args, field) && !/^(__|\*$)/.test(field));
  if (fields.length === 0) return [];
  const values = Object.fromEntries(fields.map((field) => [field, UNKNOWN]));
  return problemsOrConfigError(() => findProblems(values, UNKNOWN))
    .filter(({ property, message }) => fields.includes(property) && message.startsWith(NO_SUCH_PROPERTY))
    .map(({ property }) => `ignoreChanges: "${property}" has no effect, because a ${kind} has no such property`);
}

/** Returns the names in `ignoreChanges` that are whole fields. */
function ignoredFields({ ignoreChanges = [] }: pulumi.CustomResourceOptions): string[] {
  return ignoreChanges.map((path) => path.replace(/^\["(.*)"\]$/, "$1")).filter((field) => !/[.[]/.test(field));
}

/**
 * Returns the problems. An error in the config that the check needs is reported as a problem of the
 * resource.
 */
function problemsOrConfigError(find: () => InputProblem[]): InputProblem[] {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [{ property: "", message: error.message }];
  }
}

/**
 * Collects plain values immediately, and values of outputs (such as config) as soon as they are
 * known.
 */
function knownValues(args: object): KnownValues {
  const known: Values = {};
  const secret = new Set<string>();
  for (const [name, value] of Object.entries(args)) {
    if (isPlain(value)) known[name] = value;
    else {
      const output = pulumi.output(value);
      pulumi.all([output, pulumi.isSecret(output)]).apply(([resolved, isSecret]) => {
        if (isSecret) secret.add(name);
        known[name] = resolved;
      });
    }
  }
  return { known, secret };
}

function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (pulumi.Output.isInstance(value) || value instanceof Promise || pulumi.Resource.isInstance(value)) return false;
  return Object.values(value).every(isPlain);
}

/**
 * Logs a warning for a resource that may never be registered. If the resource itself were passed to
 * the log call, all later messages would wait for its registration.
 */
export function warnAt(declaration: Pick<DeclaredResource, "type" | "name" | "options">, text: string): void {
  urnOf(declaration).then((urn) => pulumi.log.warn(text, resourceAt(urn)));
}

/** Logs information in the same way. */
export function noteAt(declaration: Pick<DeclaredResource, "type" | "name" | "options">, text: string): void {
  urnOf(declaration).then((urn) => pulumi.log.info(text, resourceAt(urn)));
}

function urnOf({ type, name, options }: Pick<DeclaredResource, "type" | "name" | "options">): Promise<string> {
  return new Promise((resolve) => pulumi.createUrn(name, type, options.parent).apply(resolve));
}

/** Returns a stand-in for a resource that only provides its URN to a log call. */
function resourceAt(urn: string | undefined): pulumi.Resource | undefined {
  return urn === undefined ? undefined : ({ urn: pulumi.output(urn) } as pulumi.Resource);
}

/** Resolves after some time. An invalid parent is not registered and never has a URN. */
function noUrn(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), URN_WAIT_MS));
}
