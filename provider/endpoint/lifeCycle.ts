import type * as pulumi from "@pulumi/pulumi";
import { FIELDS } from "../../sdk/endpoints/fields";
import type { Endpoint } from "../../sdk/endpoints/record";
import { connect, currentCapabilities } from "../connection/connection";
import type { Properties } from "../engine/properties";
import { RARE_SETTINGS } from "../engine/resourceTypes";
import { fieldsIn } from "../fields/managed";
import { withoutUnset, withUnset } from "../fields/unset";
import { newWrite, ownerOf, stampOutput } from "../machine/stamp";
import { shownFields } from "../records/outputs";
import { ACCOUNT, type RecordHandlers, type Settling } from "../records/recordHandlers";
import { isNotPassed, lastPassed, passedOutput } from "../rollOut/passed";
import { testRelease } from "../rollOut/rollOut";
import { isLeftAtZero, warnIfOff, zeroSeen } from "./atZero";
import { awaitReady } from "./awaitReady";
import { apiProblems } from "./endpointInputs";
import { ENDPOINT_KIND } from "./endpointKind";
import { checkNewAccount } from "./newAccount";
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
      const capabilities = currentCapabilities();
      const problems = capabilities ? apiProblems(oldInputs, result.inputs, capabilities) : [];
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
      // An update that is announced already verifies the worker counts as well.
      const isLeft = !isReplaced && result.changes !== true && (await isLeftAtZero(id, outputs, inputs));
      const isOff = outputs.workersMax === 0 && Number(inputs.workersMax ?? 0) === 0;
      const isUntested = !isReplaced && !isOff && isNotPassed(outputs, inputs);
      // The engine runs deletions at the end of a run, after every adoption.
      const deleteBeforeReplace = inputs.adoptId === undefined;
      return { ...(isLeft || isUntested ? { changes: true } : result), deleteBeforeReplace };
    },

    async create(inputs: Properties) {
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
      const seen = zeroSeen(id, outputs);
      const updated = await handlers.update(id, outputs, inputs, (settling) => settle(outputs, inputs, settling), seen);
      return { outs: kept(updated.outs) };
    },

    delete: (id, outputs: Properties) => handlers.delete(id, known(outputs)),
  };
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
