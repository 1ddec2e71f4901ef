import type * as pulumi from "@pulumi/pulumi";
import { acceptedInputs } from "../../sdk/connection/acceptedWords";
import { capabilitiesAt } from "../../sdk/contract/capabilities";
import { FIELDS } from "../../sdk/endpoints/fields";
import { checkEndpointFields } from "../../sdk/endpoints/input";
import type { Endpoint } from "../../sdk/endpoints/record";
import { isAtZero } from "../../sdk/endpoints/workerLimits";
import { type InputProblem, InvalidInputError } from "../../sdk/errors/errors";
import { readOverAutomaticApi } from "../connection/automaticApi";
import { isApiUnset } from "../connection/config";
import { connect, currentCapabilities, readConfig } from "../connection/connection";
import { hasSwitched } from "../connection/decidedApi";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";
import { RARE_SETTINGS } from "../engine/resourceTypes";
import { fieldsIn, managedFields } from "../fields/managed";
import { withoutUnset, withUnset } from "../fields/unset";
import { newWrite, ownerOf, stampOutput } from "../machine/stamp";
import { LIST_MAX_AGE_MS } from "../ownership/location";
import { shownFields } from "../records/outputs";
import { ACCOUNT, type RecordHandlers, type Settling } from "../records/recordHandlers";
import { isNotPassed, lastPassed, passedOutput } from "../rollOut/passed";
import { testRelease } from "../rollOut/rollOut";
import { isLeftAtZero, warnIfOff, zeroSeen } from "./atZero";
import { awaitReady } from "./awaitReady";
import { apiProblems } from "./endpointInputs";
import { ENDPOINT_KIND } from "./endpointKind";
import { checkNewAccount } from "./newAccount";
import { refuseOtherTime } from "./otherTime";
import { changesCounts, sayRule, sayScheduledChanges } from "./schedule";
import { applyRevision } from "./templateRevision";

/**
 * Adds the parts of the life cycle that only endpoints have: tested releases, replaced workers,
 * endpoints that a killed run left at zero, and the wait for workers. Wraps the handlers of the
 * endpoint's record.
 */
export function lifeCycle(handlers: RecordHandlers<Endpoint>): Required<pulumi.dynamic.ResourceProvider> {
  return {
    ...handlers,

    async check(oldInputs: Properties, newInputs: Properties) {
      const { failures = [], ...result } = await handlers.check(oldInputs, newInputs);
      const problems = problemsOverApi(oldInputs, result.inputs);
      if (failures.length === 0 && problems.length === 0) sayRule(result.inputs);
      return {
        ...result,
        failures: [...failures, ...problems.map(({ property, message: reason }) => ({ property, reason }))],
      };
    },

    async diff(id, state: Properties, inputs: Properties) {
      const outputs = known(state);
      const result = await handlers.diff(id, outputs, inputs);
      if (result.replaces?.includes(ACCOUNT)) await checkNewAccount({ id, outputs, inputs });
      const isReplaced = (result.replaces?.length ?? 0) > 0;
      if (!isReplaced) nameKeptStandby(id, outputs, inputs);
      sayScheduledChanges(String(outputs.name ?? id), outputs, inputs);
      // Counts that differ from state are shown field by field, and an update writes them anyway.
      const isShown = result.changes === undefined && changesCounts(outputs, inputs);
      const isFromZero = isShown && inputs.schedule !== undefined && isAtZero(outputs);
      // An update that is announced already verifies the worker counts as well.
      const looks = !isReplaced && result.changes !== true && !isFromZero;
      const isLeft = looks && (await isLeftAtZero(id, outputs, inputs)) && !isShown;
      const isOff = outputs.workersMax === 0 && Number(inputs.workersMax ?? 0) === 0;
      const isUntested = !isReplaced && !isOff && isNotPassed(outputs, inputs);
      // The engine runs deletions at the end of a run, after every adoption.
      const deleteBeforeReplace = inputs.adoptId === undefined;
      return { ...(isLeft || isUntested ? { changes: true } : result), deleteBeforeReplace };
    },

    async create(inputs: Properties) {
      refuseOtherTime();
      await refuseOverApi(undefined, {}, inputs);
      const { id, outs } = await handlers.create(inputs, (settling) => settle(undefined, inputs, settling));
      return { id, outs: kept(outs) };
    },

    async read(id, state: Properties) {
      const outputs = known(state);
      const { record, ...result } = await handlers.read(id, outputs);
      if (record && !outputs.__mustExist) warnIfOff(id, { ...record }, { ...result.inputs });
      const props = result.props && { props: kept({ ...result.props, ...lastPassed(outputs) }) };
      return { ...result, ...props };
    },

    async update(id, state: Properties, inputs: Properties) {
      const outputs = known(state);
      refuseOtherTime();
      await refuseOverApi(id, outputs, inputs);
      const seen = zeroSeen(id, outputs);
      const updated = await handlers.update(id, outputs, inputs, (settling) => settle(outputs, inputs, settling), seen);
      return { outs: kept(updated.outs) };
    },

    delete: (id, outputs: Properties) => handlers.delete(id, known(outputs)),
  };
}

/**
 * Logs the `workersStandby` of an endpoint that the program leaves as it is, if it keeps workers
 * running that `workersMin` does not ask for. REST v2 does not show this setting, so the value in
 * state is used there.
 */
function nameKeptStandby(id: string, outputs: Properties, inputs: Properties): void {
  const { workersStandby, workersMin, name = id } = outputs;
  const isSet = [inputs.workersStandby, managedFields(FIELDS, outputs)?.includes("workersStandby") || undefined];
  if (isSet.some((each) => each !== undefined) || !(Number(workersStandby) > Number(inputs.workersMin ?? workersMin)))
    return;
  log(
    String(name),
    `warning: endpoint ${id} keeps its workersStandby ${workersStandby}, which the program does not set, so the service may ` +
      "keep that many workers running without jobs, and bill them. To end that, add workersStandby: 0 to the program",
  );
}

/**
 * Returns problems with inputs that the API does not accept. If no setting selects the API, returns
 * only those that neither API accepts, because a run decides before its first write. The other
 * problems are logged.
 */
function problemsOverApi(oldInputs: Properties, inputs: Properties): InputProblem[] {
  const capabilities = currentCapabilities();
  if (!capabilities) return [];
  const problems = apiProblems(oldInputs, inputs, capabilities);
  if (!isApiUnset(readConfig)) return problems;
  const others = apiProblems(oldInputs, inputs, capabilitiesAt("v2", capabilities.service));
  const isOfBoth = ({ property }: InputProblem) => others.some((other) => other.property === property);
  for (const { property, message } of problems.filter((each) => !isOfBoth(each))) {
    const name = String(inputs.name ?? inputs.__automaticName ?? ENDPOINT_KIND.noun);
    log(name, `warning: ${property} ${message}. As long as the service serves GraphQL, up fails`);
  }
  return problems.filter(isOfBoth);
}

/**
 * If no setting selects the API, refuses inputs that the run's API does not accept. If a setting
 * does, `check` has already refused them. Before it refuses inputs that GraphQL lacks, it sends a
 * read, because GraphQL may be gone.
 * @param id the endpoint of state, if it exists
 * @throws InvalidInputError that names them, before the first write
 */
async function refuseOverApi(id: string | undefined, before: Properties, inputs: Properties): Promise<void> {
  const isDecided = hasSwitched();
  if (!isDecided && !isApiUnset(readConfig)) return;
  const found = () => {
    const { capabilities } = connect();
    const { scalerValue } = inputs;
    const isSent = scalerValue !== undefined && scalerValue !== before.scalerValue;
    const numbers = isSent ? checkEndpointFields({ scalerValue }, acceptedInputs(capabilities)).problems : [];
    return [...numbers, ...apiProblems(before, inputs, capabilities)];
  };
  if (found().length === 0) return;
  const list = () => connect().client.endpoints.listReadable({ maxAgeMs: LIST_MAX_AGE_MS });
  if (!isDecided) await readOverAutomaticApi(list, readConfig, id);
  const problems = found();
  if (problems.length > 0) throw new InvalidInputError(`endpoint "${inputs.name ?? before.name}"`, problems);
}

const known = (outputs: Properties) => withUnset(FIELDS, RARE_SETTINGS, outputs);
const kept = (outputs: Properties) => withoutUnset(FIELDS, RARE_SETTINGS, outputs);

/**
 * Does everything that the program asks for once the record matches it: replaces workers, tests the
 * release, and waits for workers.
 * @param before the outputs of the last run; `undefined` for a create or an adoption
 */
async function settle(
  before: Properties | undefined,
  inputs: Properties,
  settling: Settling<Endpoint>,
): Promise<Properties> {
  const { id, outs, outcome } = settling;
  const connection = connect();
  const recycled = before && (await applyRevision(connection, { id, outputs: before, inputs }));
  const fieldsOf = (endpoint: Endpoint) => fieldsIn(FIELDS, shownFields(ENDPOINT_KIND, endpoint, inputs));
  const further = recycled ? { ...fieldsOf(recycled), ...stampOutput(ownerOf(outs), newWrite()) } : {};
  const all = { ...outs, ...further };
  const endpoint = recycled ?? outcome.record;
  if (endpoint) warnIfOff(id, { ...endpoint }, inputs);
  const isNew = before === undefined && inputs.adoptId === undefined;
  const isTested = isNew || (await testRelease({ ...settling, outs: all, connection, before, inputs, fieldsOf }));
  await awaitReady(connection.client, id, inputs, all);
  return { ...further, ...(isTested ? passedOutput(inputs) : {}) };
}
