import type { Client } from "../../sdk/client";
import type { ListedEndpoints } from "../../sdk/endpoints/listRecords";
import { MoveRefusedError } from "../../sdk/errors";
import type { Connection } from "../connection/connection";
import { log } from "../log";
import { type Properties, UNKNOWN } from "../properties";

/** One list for all resources that move in this run: `diff` is called for one after the other. */
const lists = new WeakMap<Client, Promise<ListedEndpoints>>();

/**
 * Proves, with one list of the new account's endpoints, that a resource can move there. The engine deletes the endpoint
 * in the former account first, so what is wrong must show before. The contract has no way to read the templates and the
 * quota of an account: a template counts as known there if one of its endpoints uses it, or if the program names another
 * one than before.
 * @throws MoveRefusedError if the key is not accepted, the name is taken or the template is not known there
 */
export async function proveTarget(
  { client, settings }: Connection,
  id: string,
  outputs: Properties,
  inputs: Properties,
): Promise<void> {
  const refuse = (reason: string, cause?: unknown): never => {
    throw new MoveRefusedError(
      `endpoint ${id} ("${outputs.name}") cannot move to this account: ${reason}. Nothing was changed: it stays in its ` +
        "former account. Fix this, or give the resource its former provider again",
      { cause },
    );
  };
  const list = lists.get(client) ?? client.endpoints.listReadable();
  lists.set(client, list);
  const { endpoints, unreadable } = await list.catch((error) =>
    refuse(error instanceof Error ? error.message : String(error), error),
  );

  const namesake = [...endpoints, ...unreadable].find(({ name }) => name === inputs.name);
  if (inputs.adoptId === undefined && namesake) {
    refuse(`an endpoint of its name exists there already (${namesake.id ?? "its record has no id"})`);
  }
  if (inputs.adoptId !== undefined && inputs.adoptId !== UNKNOWN && !endpoints.some((e) => e.id === inputs.adoptId)) {
    refuse(`the program's adoptId (${inputs.adoptId}) does not exist there. Take adoptId out of the program`);
  }
  const isTemplateKnown =
    inputs.templateId !== outputs.templateId || endpoints.some((each) => each.templateId === inputs.templateId);
  if (!isTemplateKnown && !settings.allowAccountChange) {
    refuse(
      "its templateId is that of the former account, and no endpoint there uses it. Give the id of a template of the " +
        "new account; if this one exists there too (it is public, say), set SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for this run",
    );
  }
  const inUse = endpoints.reduce((sum, { workersMax }) => sum + workersMax, 0);
  log(
    String(outputs.name),
    `endpoint ${id} moves to another account: it is deleted in the former one, and another is created. The endpoints of ` +
      `the new account may use ${inUse} workers already; this one counts against the same quota`,
  );
}
