import type * as pulumi from "@pulumi/pulumi";
import { FIELDS } from "../../sdk/endpoints/fields";
import type { Endpoint } from "../../sdk/endpoints/record";
import { connect, currentCapabilities } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { changedIn, managedFields } from "../fields/managed";
import { withoutUnset, withUnset } from "../fields/unset";
import { newWrite, writeOutput } from "../machine/lastWrite";
import { type Properties, pick } from "../properties";
import { ACCOUNT, type RecordHandlers } from "../records/recordHandlers";
import type { Situation } from "../records/recordKind";
import { RARE_SETTINGS } from "../resourceTypes";
import { isReleaseOpen } from "../rollOut/rollOut";
import { announceZero, asSeen, forgetSeen, limitsLeftBehind, lookForZero, scaleDownRecord, warnIfOff } from "./atZero";
import { awaitReady, isReadyPending } from "./awaitReady";
import { apiProblems } from "./endpointInputs";
import { startRelease } from "./endpointKind";
import { forgetCreate } from "./interruptedCreate";
import { checkNewAccount } from "./newAccount";
import { endpointFields } from "./ownContainer";
import { applyRevision } from "./templateRevision";

/**
 * Adds the parts of the life cycle that only endpoints have: judging releases, replacing workers,
 * restoring worker counts that a killed run left at zero, and waiting for workers. Wraps the
 * handlers of the endpoint's record.
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

    async diff(id, outputs: Properties, inputs: Properties) {
      const situation = { id, outputs: known(outputs), inputs };
      const result = await handlers.diff(id, situation.outputs, inputs);
      if (result.replaces?.includes(ACCOUNT)) await checkNewAccount(situation);
      // An update that saves other fields saves the declared worker counts as well.
      const isSaved = changedIn(FIELDS, situation.outputs, inputs).length > 0;
      if (!isSaved && !result.replaces?.length) await lookForZero(id, situation.outputs);
      const isUnfinished = !result.replaces?.length && hasUnfinished(situation);
      // The engine runs deletions at the end of a run, when every resource has claimed its record.
      const deleteBeforeReplace = inputs.adoptId === undefined;
      return { ...(isUnfinished ? { changes: true } : result), deleteBeforeReplace };
    },

    async create(inputs: Properties) {
      const { id, outs, record } = await handlers.create(inputs);
      await settle(connect().client, { id, outputs: outs, inputs }, record);
      return { id, outs: kept(outs) };
    },

    async read(id, state: Properties) {
      const outputs = known(state);
      const { record, ...result } = await handlers.read(id, outputs);
      const props = result.props && { props: kept(result.props) };
      if (!record) return { ...result, ...props };
      const managed = managedFields(FIELDS, outputs) ?? [];
      // A refresh must not treat values that an interrupted run left behind as inputs of the
      // program.
      const left = pick({ ...limitsLeftBehind(id, outputs, record) }, (field) => managed.includes(field));
      return { ...result, ...props, inputs: { ...result.inputs, ...left } };
    },

    async update(id, state: Properties, inputs: Properties) {
      const outputs = known(state);
      const situation = { id, outputs, inputs };
      const connection = connect();
      const judge = await startRelease(connection, situation, false);
      const updated = await handlers.update(id, asSeen(id, outputs), inputs);
      const recycled = await applyRevision(connection.client, situation);
      const saw = {
        ...(recycled ? withFieldsOf(recycled, updated.outs, inputs) : updated.outs),
        // A recycle writes as well. Machine records from before it are void, on every machine.
        ...((judge || recycled) && writeOutput(newWrite())),
      };
      const record = recycled ?? updated.record;
      const outs = { ...saw, ...(await judge?.(saw, record)) };
      await settle(connection.client, { id, outputs: outs, inputs }, record);
      return { outs: kept(outs) };
    },

    delete: (id, outputs: Properties) => handlers.delete(id, known(outputs)),
  };
}

const known = (outputs: Properties) => withUnset(FIELDS, RARE_SETTINGS, outputs);
const kept = (outputs: Properties) => withoutUnset(FIELDS, RARE_SETTINGS, outputs);

/**
 * Returns `true` if an update has to finish something that an earlier run left unfinished. Logs
 * what the update will do. Makes no request.
 */
function hasUnfinished({ id, outputs, inputs }: Situation): boolean {
  const isLeftAtZero = announceZero(id, asSeen(id, outputs), inputs);
  const isOpen = isReleaseOpen({ id, outputs, inputs });
  return isLeftAtZero || isReadyPending(outputs) || isOpen;
}

/** Returns the outputs, updated with the fields of an endpoint whose workers were replaced. */
function withFieldsOf(endpoint: Endpoint, outs: Properties, inputs: Properties): Properties {
  return { ...pick(outs, (name) => !Object.hasOwn(FIELDS, name)), ...endpointFields(endpoint, inputs) };
}

/**
 * Waits for everything that the program asks to wait for, once the record matches the program.
 * `outputs` are the outputs of this run; `endpoint` is absent if it was not read.
 */
async function settle(client: ProviderClient, { id, outputs, inputs }: Situation, endpoint?: Endpoint): Promise<void> {
  scaleDownRecord(id, outputs).forget();
  forgetSeen(id);
  if (endpoint) warnIfOff(id, { ...endpoint }, inputs);
  try {
    await awaitReady(client, id, inputs, outputs);
  } finally {
    forgetCreate(outputs);
  }
}
