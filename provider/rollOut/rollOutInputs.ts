import type { InputProblem } from "../../sdk/errors/errors";
import { noSuchProperty } from "../../sdk/records/input";
import { containsUnknown, type InputRule, isObject, type Properties, SECONDS, UNKNOWN } from "../engine/properties";

/** The `rollOut` input in normal form. */
export interface RollOut {
  /** The inputs of a smoke test, except for the endpoint. */
  readonly test: Properties | undefined;
  readonly watch: JobWatch | undefined;
  readonly restores: boolean;
  readonly timeoutMs: number;
}

/** The settings for counting jobs. */
export interface JobWatch {
  readonly seconds: number;
  readonly maxFailed: number;
  readonly minJobs: number;
}

const DEFAULT_TIMEOUT_SECONDS = 600;

const WHOLE: InputRule = {
  message: "must be a whole number, 1 or more",
  allows: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
};
const SHARE: InputRule = {
  message: "must be a share of all jobs: at least 0 and less than 1, such as 0.05",
  allows: (value) => typeof value === "number" && value >= 0 && value < 1,
};
const AN_OBJECT: InputRule = { message: "must be an object", allows: isObject };
const ON_FAILURE: InputRule = {
  message: 'must be "restore" or "keep"',
  allows: (value) => value === "restore" || value === "keep",
};

const RULES: Readonly<Record<string, InputRule>> = {
  test: AN_OBJECT,
  watch: AN_OBJECT,
  onFailure: ON_FAILURE,
  timeout: SECONDS,
};
const WATCH_RULES: Readonly<Record<string, InputRule>> = { seconds: SECONDS, maxFailed: SHARE, minJobs: WHOLE };

/** The inputs of a smoke test that the test of a rollout does not accept. */
const NOT_OF_TEST = ["endpointId", "triggers", "policy", "s3Config"];

/** Returns the program's `rollOut`, or `undefined` if the program sets none. */
export function rollOutOf({ rollOut }: Properties): RollOut | undefined {
  if (!isObject(rollOut)) return undefined;
  const { test, watch, onFailure, timeout = DEFAULT_TIMEOUT_SECONDS } = rollOut;
  return {
    test: isObject(test) ? test : undefined,
    watch: isObject(watch)
      ? {
          seconds: Number(watch.seconds),
          maxFailed: Number(watch.maxFailed ?? 0.05),
          minJobs: Number(watch.minJobs ?? 20),
        }
      : undefined,
    restores: onFailure !== "keep",
    timeoutMs: Number(timeout) * 1000,
  };
}

/**
 * Returns the inputs without the parts of `rollOut` that are `null`, because `null` means not set.
 */
export function withoutUnsetParts(inputs: Properties): Properties {
  if (!isObject(inputs.rollOut)) return inputs;
  const { test, watch } = inputs.rollOut;
  const rollOut = {
    ...inputs.rollOut,
    ...(isObject(test) && { test: set(test) }),
    ...(isObject(watch) && { watch: set(watch) }),
  };
  return { ...inputs, rollOut: set(rollOut) };
}

function set(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null && value !== undefined));
}

/** Returns the problems of `rollOut`, alone and in combination with the endpoint's other inputs. */
export function rollOutProblems({ rollOut, templateId = "", type }: Properties): InputProblem[] {
  if (rollOut === undefined || rollOut === UNKNOWN) return [];
  if (templateId !== "" && templateId !== null && templateId !== UNKNOWN) {
    return [{ property: "rollOut", message: OF_TEMPLATE }];
  }
  if (!isObject(rollOut)) return [];
  const { test, watch } = rollOut;
  const countsNoJobs = type === "LOAD_BALANCER" && isObject(watch);
  return [
    ...partProblems("rollOut", rollOut, RULES),
    ...(isObject(watch) ? partProblems("rollOut.watch", watch, WATCH_RULES) : []),
    ...(isObject(watch) && watch.seconds === undefined
      ? [{ property: "rollOut.watch.seconds", message: "is required" }]
      : []),
    ...(countsNoJobs ? [{ property: "rollOut.watch", message: NO_JOBS }] : []),
    ...(isObject(test) ? testProblems(test) : []),
  ];
}

/** Returns a problem if `rollOut` would have to judge a move from a template to a container. */
export function moveProblems({ templateId = "" }: Properties, { rollOut }: Properties): InputProblem[] {
  const isMove = templateId !== "" && templateId !== null && rollOut !== undefined;
  return isMove ? [{ property: "rollOut", message: IN_MOVE }] : [];
}

const OF_TEMPLATE =
  "needs imageName: the image belongs to a template, which other endpoints may use and which cannot be restored for one " +
  "endpoint alone. Set imageName and the other container settings on the endpoint, or test template changes with a " +
  "SmokeTest, or deploy a second endpoint (blue-green)";
const IN_MOVE =
  "cannot judge the change from templateId to imageName, because the variables of a template cannot be restored. Make that " +
  "change without rollOut, and add rollOut afterwards";
const NO_JOBS = "counts jobs, and a load-balancing endpoint has none: remove it, and use rollOut.test with path";

function partProblems(place: string, part: Properties, rules: Readonly<Record<string, InputRule>>): InputProblem[] {
  return Object.entries(part).flatMap(([name, value]) => {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    const property = `${place}.${name}`;
    if (!rule) return [{ property, message: noSuchProperty(name, Object.keys(rules)) }];
    return value === undefined || containsUnknown(value) || rule.allows(value)
      ? []
      : [{ property, message: rule.message }];
  });
}

/**
 * Returns the problems of a rollout's test. The rules of smoke tests are loaded only here, because
 * they load the client.
 */
function testProblems(test: Properties): InputProblem[] {
  const {
    smokeTestProblems,
  }: typeof import("../smokeTest/smokeTestHandlers") = require("../smokeTest/smokeTestHandlers");
  const foreign = NOT_OF_TEST.filter((name) => test[name] !== undefined);
  const problems = smokeTestProblems({ ...test, endpointId: "known" });
  return [
    ...foreign.map((name) => ({ property: `rollOut.test.${name}`, message: "is not a property of a rollout's test" })),
    ...problems.map(({ property, message }) => ({ property: `rollOut.test.${property}`, message })),
  ];
}
