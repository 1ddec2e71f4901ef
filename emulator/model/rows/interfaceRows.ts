import { assumed, documented, observed } from "./level";

/** All APIs: paths and sizes. */
export const server = {
  "server.unknown-path": assumed("A path outside the APIs returns 404."),
  "server.too-large": assumed("A GraphQL or REST request with a body over 20 MB returns 413."),
  "server.too-deep": assumed("A request with a body that is nested more than 1,000 levels deep returns 400."),
};

/** GraphQL: requests, keys and responses. */
export const graphql = {
  "graphql.wrong-key": documented("A wrong key returns 401."),
  "graphql.unauthorized-body": assumed('The body of a 401 is {"errors":[{"message":"Unauthorized"}]}.'),
  "graphql.no-key": assumed("A request without a key returns 401 in the contract profile."),
  "graphql.no-key-observed": observed(
    'A request without a key returns 200 with {"data":{"myself":null}} in the observed profile.',
  ),
  "graphql.no-key-mutation": assumed(
    'A change without a key returns 200 with the error "Unauthorized" (observed profile).',
  ),
  "graphql.no-permission": documented("A key without permission returns 401 in the contract profile."),
  "graphql.no-permission-observed": observed(
    'A key without permission returns 200 with the error "Unauthorized" and myself: null in the observed profile.',
  ),
  "graphql.key-in-query": documented("The key is read from the query parameter api_key."),
  "graphql.bearer": observed("The observed profile reads the key from Authorization: Bearer as well."),
  "graphql.bearer-refused": assumed("The contract profile reads no key from a header: 401."),
  "graphql.post-only": assumed("Any method except POST returns 405."),
  "graphql.malformed": assumed(
    "A body that is not JSON, has no query, or has a query that cannot be parsed returns 400.",
  ),
  "graphql.validation": observed(
    "An unknown field, a wrong type or a quoted enum returns 400 with the code GRAPHQL_VALIDATION_FAILED.",
  ),
  "graphql.business-error": observed(
    'A broken rule returns 200 with errors, each with message, path and the code "RUNPOD"; the messages are assumed.',
  ),
  "graphql.ended": assumed(
    "With an option, every request to GraphQL returns 410 (announced for early 2027), 404 or a redirect; REST v2 stays.",
  ),
  "graphql.introspection": observed("In the observed profile introspection is off: 400 (2026-08)."),
  "graphql.selection": documented("The response has the selected fields of the operation's result under data."),
  "graphql.quota": assumed(
    "With GraphQL limits set, a request over a limit returns 429, without headers. The windows are those of REST v2.",
  ),
  "graphql.variables": assumed("Variables and operationName are accepted in addition to query."),
};

/** GraphQL: `myself`. */
export const myself = {
  "myself.endpoints": documented("myself.endpoints lists all endpoints with their fields."),
  "myself.list-cap": observed("In the observed profile myself.endpoints shows the 400 oldest endpoints."),
  "myself.endpoint": observed("In the observed profile myself.endpoint(id) returns any one endpoint, or null."),
  "myself.endpoint-lag": assumed("myself.endpoint can lag behind a change by 2.5 s at most, a list by more."),
  "myself.pods": documented("pods lists the desiredStatus of an endpoint's workers."),
  "myself.version": observed(
    "In the observed profile, an endpoint shows its version, a number that each release increases.",
  ),
  "myself.pod-details": observed(
    "Pods show the version, the image and the age of their worker, and never its variables.",
  ),
  "myself.pod-ids": assumed("In the observed profile, pods also show their ids."),
  "myself.discount": documented("serverlessDiscount has discountFactor, type and expirationDate."),
  "graphql.pods": assumed("In the observed profile myself.pods and pod show pods; the contract has them only in REST."),
  "myself.user": assumed(
    "The observed profile has one user without an e-mail address, and one type of GPU for each GPU pool.",
  ),
  "myself.id": assumed(
    "myself.id and an endpoint's userId are the account's id. It stays the same in a data file, whatever the key, and differs between emulators.",
  ),
  "myself.no-discount": documented("serverlessDiscount may be null."),
};

/** REST: pods. */
export const rest = {
  "rest.pod": documented("GET /v1/pods/{podId} returns 200 with all fields of the pod."),
  "rest.bearer": documented("The key is read from Authorization: Bearer."),
  "rest.wrong-key": documented("A wrong key, and a key without permission, return 401."),
  "rest.unauthorized-body": assumed('The body of a 401 is {"error":"unauthorized","status":401}.'),
  "rest.unknown-pod": observed('An unknown pod returns 404 with {"error":"pod not found","status":404}.'),
  "rest.bad-flag": observed("An include flag that is neither true nor false returns 400 with error and problems."),
  "rest.get-only": assumed("Any method except GET returns 405."),
  "rest.other-paths": assumed("Any other path under /v1 returns 404."),
  "rest.flags-default": documented("All five include flags are false by default."),
  "rest.include-machine": documented("includeMachine adds the machine."),
  "rest.include-network-volume": documented("includeNetworkVolume adds the attached network volume, if any."),
  "rest.include-savings-plans": documented(
    "includeSavingsPlans adds the savings plans, or an empty list if none apply.",
  ),
  "rest.include-template": documented("includeTemplate adds the template, if any; its fields are assumed."),
  "rest.include-workers": documented(
    "includeWorkers also finds pods that are workers, with endpointId, aiApiId and slsVersion.",
  ),
  "rest.worker-needs-flag": assumed("A pod that is a worker is found only with includeWorkers=true; otherwise 404."),
  "rest.states": documented("desiredStatus is RUNNING, EXITED or TERMINATED."),
  "rest.name-length": documented("A pod's name has at most 191 characters."),
  "rest.optional-fields": documented("Conditional fields are absent while their condition is not met."),
  "rest.observed-spelling": observed(
    "The observed profile sends costPerHr as a numeric string and the image as imageName.",
  ),
};
