import { drawTemplateName } from "../../sdk/endpoints/ownContainer";
import type { Endpoint, EndpointInput } from "../../sdk/endpoints/record";
import { recordedService } from "../connection/account";
import type { Connection } from "../connection/connection";
import { variablesOf } from "../container/variables";
import { log } from "../log";
import { readRecord, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { isOfThisProcess, mayStillRun, thisProcess } from "../machine/processes";
import { noteCreated } from "../machine/unfinishedWrite";
import { isObject, type Properties } from "../properties";
import { warnOfDuplicates } from "../records/duplicates";
import type { Naming } from "../records/recordKind";
import { hasOwnContainer } from "./ownContainer";

/*
 * A create that is killed may leave an endpoint that no state has. Its name proves nothing: a copy
 * of the program elsewhere gives it the same one. Over GraphQL, the template that holds its
 * container has a name with random digits, which this machine records before the create.
 */

/** The largest number of creates to keep in one record. */
const MOST = 5;

/**
 * Creates an endpoint, or takes over the endpoint that an interrupted create on this machine left
 * behind.
 */
export async function createOrTakeOver(
  connection: Connection,
  fields: EndpointInput,
  { onNameTaken, takeOver }: Naming<Endpoint>,
  inputs: Properties,
): Promise<Endpoint> {
  let left: Endpoint | undefined;
  const created = await createNoted(connection, fields, (existing) => {
    left = ownLeftover(connection, existing, inputs);
    return left ?? onNameTaken(existing);
  });
  return left ? takeOver(left) : created;
}

/** Creates an endpoint, and records how the endpoint can be recognized later. */
async function createNoted(
  { client: { endpoints }, account, capabilities }: Connection,
  fields: EndpointInput,
  onNameTaken: (existing: readonly Endpoint[]) => Endpoint,
): Promise<Endpoint> {
  const options = {
    onNameTaken,
    onDuplicates: (created: Endpoint, others: readonly Endpoint[]) => warnOfDuplicates("endpoint", created, others),
  };
  if (!capabilities.bindsTemplates || !fields.imageName) return endpoints.create(fields, options);
  const templateName = drawTemplateName(fields.name, Math.random);
  const subject = subjectOf(account.service, fields.name);
  const create = { templateName, ...thisProcess(), variables: variablesOf({ ...fields }) };
  writeRecord(subject, { creates: [...createsIn(subject), create].slice(-MOST) });
  return endpoints.create(fields, { ...options, templateName });
}

/** Removes the record of a create. Called when the engine is about to receive the result. */
export function forgetCreate(outputs: Properties): void {
  removeRecord(subjectOf(recordedService(outputs) ?? "", String(outputs.name)));
}

/**
 * Returns the endpoint with this name if it is the only one and an interrupted create on this
 * machine made it. As long as the process of that create may still be running, the endpoint belongs
 * to that process. A program that gives the endpoint a template cannot take it over, because the
 * endpoint's own template would be left behind.
 */
function ownLeftover({ account }: Connection, existing: readonly Endpoint[], inputs: Properties): Endpoint | undefined {
  const [endpoint, ...others] = existing;
  if (!hasOwnContainer(inputs) || !endpoint?.template?.isBound || others.length > 0) return undefined;
  const { id, name, template } = endpoint;
  const create = createsIn(subjectOf(account.service, name)).find(({ templateName }) => templateName === template.name);
  if (!create || isOfThisProcess(create)) return undefined;
  if (mayStillRun(create)) {
    log(name, `warning: ${whoseItMayBe(id)}`);
    return undefined;
  }
  // State doesn't contain these variables yet, so the ones that the program no longer sets are
  // removed.
  const variables = Array.isArray(create.variables) ? create.variables.map(String) : [];
  noteCreated({ service: account.service, noun: "endpoint", id }, variables);
  return endpoint;
}

function whoseItMayBe(id: string): string {
  return (
    `endpoint ${id} was created by a run that may not have ended, perhaps on another machine or container. If ` +
    "that run is still active, wait until it ends: its stack then manages the endpoint. If it was killed, delete the " +
    "endpoint, and run pulumi up again"
  );
}

function createsIn(subject: Subject): readonly Properties[] {
  const creates = readRecord(subject)?.creates;
  return Array.isArray(creates) ? creates.filter(isObject) : [];
}

function subjectOf(service: string, name: string): Subject {
  return { service, noun: "endpoint", thing: "create", key: name };
}
