import type { Operation, Step } from "./operations";

/** A request, by its place among the operation's requests, or by its own name. */
type Request = readonly [name: string, strikes: string, by?: "named"];

const record = (
  noun: string,
  list: string,
  users: string,
  name: string,
): Readonly<Record<string, readonly Request[]>> => ({
  // Those of a create are sent at the same time.
  [`${noun} create`]: [
    ["list", list, "named"],
    ["save", `create${name}`, "named"],
  ],
  [`${noun} update`]: [
    ["list", list],
    ["save", `update${name}`],
  ],
  [`${noun} read`]: [["list", list]],
  [`${noun} delete`]: [
    ["list", list],
    ["list of users", users],
    ["delete", `delete${name}`],
    ["list proof", list],
  ],
});

/** The requests that each operation sends over REST v2 without a fault. */
const REQUESTS: Readonly<Record<string, readonly Request[]>> = {
  create: [
    ["list", "listEndpoints"],
    ["save", "createEndpoint"],
  ],
  adopt: [
    ["list", "listEndpoints"],
    ["save", "updateEndpoint"],
  ],
  update: [
    ["list", "listEndpoints"],
    // This comes after the catalog, which a process reads only once, so it has no fixed position.
    ["save", "updateEndpoint", "named"],
  ],
  read: [["list", "listEndpoints"]],
  "read (gone)": [
    ["list", "listEndpoints"],
    ["look by id", "getEndpoint"],
    ["look again", "getEndpoint"],
  ],
  delete: [
    ["list", "listEndpoints"],
    ["save", "updateEndpoint"],
    ["workers", "listWorkers"],
    ["delete", "deleteEndpoint"],
    ["list proof", "listEndpoints"],
  ],
  "delete (gone)": [
    ["list", "listEndpoints"],
    ["look by id", "getEndpoint"],
    ["delete", "deleteEndpoint"],
  ],
  ...record("template", "listTemplates", "listEndpoints", "Template"),
  ...record("volume", "listNetworkVolumes", "listEndpoints", "NetworkVolume"),
  ...record("credential", "listRegistries", "listTemplates", "Registry"),
  "credential delete": [
    ["list", "listRegistries"],
    ["list of endpoints", "listEndpoints"],
    ["list of users", "listTemplates"],
    ["delete", "deleteRegistry"],
    ["list proof", "listRegistries"],
  ],
};

/** REST v2 cannot change a credential. */
const IMPOSSIBLE = ["credential update"];

/** Returns the operations that use the management interface, with their requests over REST v2. */
export function overV2(operations: readonly Operation[]): Operation[] {
  return operations.flatMap((operation) => {
    const requests = IMPOSSIBLE.includes(operation.name) ? undefined : REQUESTS[operation.name];
    return requests ? [{ ...operation, name: `${operation.name} (v2)`, steps: requests.map(stepOf) }] : [];
  });
}

function stepOf([name, strikes, by]: Request, index: number): Step {
  const found = by === "named" ? { operation: strikes } : { position: index + 1 };
  return { name, interface: "v2", ...found, strikes };
}
