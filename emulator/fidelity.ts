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

/** All interfaces: addresses and sizes. */
const server = {
  "server.unknown-path": assumed("A path outside the three interfaces answers 404."),
  "server.too-large": assumed("A GraphQL or REST request body over 20 MB answers 413."),
};

/** GraphQL: endpoints. */
const graphql = {
  "graphql.wrong-key": documented("A wrong key answers 401."),
  "graphql.unauthorized-body": assumed('The body of a 401 is {"errors":[{"message":"Unauthorized"}]}.'),
  "graphql.post-only": assumed("Any method but POST answers 405."),
  "graphql.malformed": assumed("A body that is no JSON, or a query that cannot be parsed, answers 400."),
  "graphql.validation": observed(
    "An unknown field, a wrong type or a quoted enum answers 400, GRAPHQL_VALIDATION_FAILED.",
  ),
};

/** REST: pods. */
const rest = {
  "rest.unknown-pod": observed('An unknown pod answers 404 with {"error":"pod not found","status":404}.'),
  "rest.unauthorized-body": assumed('The body of a 401 is {"error":"unauthorized","status":401}.'),
  "rest.get-only": assumed("Any method but GET answers 405."),
  "rest.bad-flag": assumed("An include flag that is neither true nor false answers 400 with error and problems."),
  "rest.worker-needs-flag": assumed("A pod that is a worker is found only with includeWorkers=true; else 404."),
};

/** Queue: jobs, workers, webhooks, rate limits. */
const queue = {
  "queue.too-large": assumed("A body over the operation's limit answers 400."),
  "queue.unknown-endpoint": documented("An unknown endpoint id answers 404."),
};

export const fidelity = { ...server, ...graphql, ...rest, ...queue };

/** The id of a row, `interface.behaviour`. */
export type FidelityId = keyof typeof fidelity;

/** How much is known about a behaviour. */
export function levelOf(id: FidelityId): Level {
  return fidelity[id].level;
}
