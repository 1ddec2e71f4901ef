import type { Client } from "../../sdk/client";
import type { ListedEndpoints } from "../../sdk/endpoints/listRecords";
import type { Endpoint } from "../../sdk/endpoints/record";
import { MoveRefusedError } from "../../sdk/errors";
import { isOtherAccount, isOtherProvider, isRedirected, refuseOtherAccount } from "../connection/account";
import { type Connection, connect, currentPlace, readConfig } from "../connection/connection";
import { log } from "../log";
import { type Properties, UNKNOWN } from "../properties";
import { freshAutomaticName } from "./owners";

/** Maximum age of the list that the resources of one run share, in milliseconds. */
const LIST_MAX_AGE_MS = 60_000;

/**
 * Returns where a resource's endpoint is, seen from the provider that the program gives it: `here`; `redirected` if it is
 * the same endpoint reached another way, which an update records; `moved` if it is to be replaced in another account.
 *
 * While key and service are those that the endpoint was last seen with, no call is made. Otherwise this looks for
 * the endpoint: if it is there, it is the same account with another key or under another provider.
 * @throws AccountChangedError if it is not there, and the provider is the same one
 * @throws MoveRefusedError if it is not there, and the new account is not ready for it
 */
export async function locate(
  id: string,
  outputs: Properties,
  inputs: Properties,
): Promise<"here" | "redirected" | "moved"> {
  const place = currentPlace();
  if (!place) return locateWithoutKey(id, outputs);
  const found = () => (isRedirected(outputs, place, id) ? "redirected" : "here");
  if (!isOtherAccount(outputs, place.account, id)) return found();
  const connection = connect();
  const isMove = isOtherProvider(outputs, place.account.provider);
  const finding = connection.client.endpoints.find(id, { maxAgeMs: LIST_MAX_AGE_MS });
  const endpoint: Endpoint | undefined = await finding.catch((error) => {
    if (!isMove) throw error;
    return refuseMove(id, outputs, error instanceof Error ? error.message : String(error), error);
  });
  if (endpoint) return found();
  if (isMove) {
    await proveTarget(connection, id, outputs, inputs);
    return "moved";
  }
  refuseOtherAccount(outputs, connection, id);
  return found();
}

/** Previews need no key. Without a key, a preview cannot tell whether another provider is another account. */
function locateWithoutKey(id: string, outputs: Properties): "here" | "redirected" {
  if (!isOtherProvider(outputs, readConfig("explicit") ?? "")) return "here";
  log(
    String(outputs.name ?? id),
    `warning: endpoint ${id} now has another provider. This preview has no key for it and cannot tell whether that is ` +
      "another account. If it is, up deletes the endpoint in the former account and creates another in the new one",
  );
  return "redirected";
}

function refuseMove(id: string, outputs: Properties, reason: string, cause?: unknown): never {
  throw new MoveRefusedError(
    `endpoint ${id} ("${outputs.name}") cannot move to this account: ${reason}. Nothing was changed: it stays in its ` +
      "former account. Fix this, or restore the resource's former provider",
    { cause },
  );
}

/** One list for all resources that move in this run. The engine calls `diff` for one resource after another. */
const lists = new WeakMap<Client, Promise<ListedEndpoints>>();

/**
 * Verifies, with one list of the new account's endpoints, that a resource can move there. The engine deletes the endpoint
 * in the former account first, so problems must be found before that. The contract cannot read the templates or the quota
 * of an account: a template counts as known if an endpoint of the new account uses it, or if the program changes
 * `templateId`.
 * @throws MoveRefusedError if the key is not accepted, the name is taken, or the template is not known there
 */
async function proveTarget(
  { client, settings }: Connection,
  id: string,
  outputs: Properties,
  inputs: Properties,
): Promise<void> {
  const refuse = (reason: string, cause?: unknown) => refuseMove(id, outputs, reason, cause);
  const list = lists.get(client) ?? client.endpoints.listReadable();
  lists.set(client, list);
  const { endpoints, unreadable } = await list.catch((error) =>
    refuse(error instanceof Error ? error.message : String(error), error),
  );

  // The replacement is a new resource and gets a new automatic name.
  const newName = inputs.__automaticName === undefined ? inputs.name : freshAutomaticName();
  const namesake = [...endpoints, ...unreadable].find(({ name }) => name === newName);
  if (inputs.adoptId === undefined && namesake) {
    refuse(`an endpoint with its name already exists there (${namesake.id ?? "its record has no id"})`);
  }
  if (inputs.adoptId !== undefined && inputs.adoptId !== UNKNOWN && !endpoints.some((e) => e.id === inputs.adoptId)) {
    refuse(`the program's adoptId (${inputs.adoptId}) does not exist there. Remove adoptId from the program`);
  }
  const isTemplateKnown =
    inputs.templateId !== outputs.templateId || endpoints.some((each) => each.templateId === inputs.templateId);
  if (!isTemplateKnown && !settings.allowAccountChange) {
    refuse(
      "its templateId is from the former account, and no endpoint there uses it. Set the id of a template of the new " +
        "account. If the template exists in both (it may be public), set SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for this run",
    );
  }
  const inUse = endpoints.reduce((sum, { workersMax }) => sum + workersMax, 0);
  log(
    String(outputs.name),
    `endpoint ${id} moves to another account: it is deleted in the former account, and a new one is created. The ` +
      `endpoints of the new account may already use ${inUse} workers; the new endpoint counts against the same quota`,
  );
}
