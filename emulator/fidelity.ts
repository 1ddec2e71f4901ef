/**
 * Every behaviour of the emulator and how much is known about it, one row each. Tests name a row's id in brackets in
 * their title (`[graphql.wrong-key] …`); a test fails when a row has none. `docs/emulator-fidelity.md` is made from here.
 */

/** `documented`: the service's contract says so. `observed`: seen at a running service. `assumed`: our choice. */
export type Level = "documented" | "observed" | "assumed";

interface Row {
  readonly level: Level;
  readonly text: string;
}

const documented = (text: string): Row => ({ level: "documented", text });
const observed = (text: string): Row => ({ level: "observed", text });
const assumed = (text: string): Row => ({ level: "assumed", text });

/** All interfaces: keys, addresses, sizes. */
const server = {
  "server.unknown-path": assumed("A path outside the three interfaces answers 404."),
};

/** GraphQL: endpoints. */
const graphql = {
  "graphql.wrong-key": documented("A wrong key answers 401."),
};

/** REST: pods. */
const rest = {
  "rest.unknown-pod": observed('An unknown pod answers 404 with {"error":"pod not found","status":404}.'),
};

/** Queue: jobs, workers, webhooks, rate limits. */
const queue = {
  "queue.unknown-endpoint": documented("An unknown endpoint id answers 404."),
};

export const fidelity = { ...server, ...graphql, ...rest, ...queue };

/** The id of a row, `interface.behaviour`. */
export type FidelityId = keyof typeof fidelity;

/** How much is known about a behaviour. */
export function levelOf(id: FidelityId): Level {
  return fidelity[id].level;
}
