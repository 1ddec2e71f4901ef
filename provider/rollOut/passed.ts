import { FIELDS } from "../../sdk/endpoints/fields";
import { workerFields } from "../../sdk/records/fields";
import { digestOf, isObject, type Properties, pick, secretValue } from "../engine/properties";

/*
 * The outputs record which release last passed: its test, or the wait for its workers. After a
 * killed run, a failed run or a refresh, they show that the release in service has not passed.
 */

const PASSED = "__passed";

/** The fields whose change makes a release, which means that RunPod replaces the workers. */
const RELEASE_FIELDS: readonly string[] = workerFields(FIELDS);

/** Returns `true` for a field whose change is a release. */
export function isReleaseField(name: string): boolean {
  return RELEASE_FIELDS.includes(name);
}

/** Returns `true` if the program has releases verified, with `rollOut` or `awaitReady`. */
function asks({ rollOut, awaitReady }: Properties): boolean {
  return isObject(rollOut) || awaitReady === true;
}

/**
 * Returns `true` if the program's release has not passed, although the program has releases
 * verified.
 */
export function isNotPassed(outputs: Properties, inputs: Properties): boolean {
  return asks(inputs) && passedIn(outputs) !== releaseDigest(inputs);
}

/** Returns the output for a release that has passed. */
export function passedOutput(inputs: Properties): Properties {
  return asks(inputs) ? { [PASSED]: asOutput(releaseDigest(inputs), inputs) } : {};
}

/** Returns the output as it was recorded. */
export function lastPassed(outputs: Properties, inputs: Properties = outputs): Properties {
  const passed = passedIn(outputs);
  return passed === undefined ? {} : { [PASSED]: asOutput(passed, inputs) };
}

function passedIn({ [PASSED]: passed }: Properties): string | undefined {
  const plain = isObject(passed) ? passed.value : passed;
  return plain === undefined ? undefined : String(plain);
}

/** The digest of variables is secret, because the value of a short one could be guessed from it. */
function asOutput(digest: string, { env }: Properties): unknown {
  return isObject(env) && Object.keys(env).length > 0 ? secretValue(digest) : digest;
}

function releaseDigest(inputs: Properties): string {
  const { env, ...fields } = pick(inputs, isReleaseField);
  const entries = (properties: object) => Object.entries(properties).sort(([one], [other]) => (one < other ? -1 : 1));
  return digestOf([entries(fields), entries(isObject(env) ? env : {})]);
}
