import { assumed, observed } from "./level";

/** Load-balancing endpoints: requests to the HTTP servers of workers. */
export const loadBalancer = {
  "lb.path": assumed(
    "A load-balancing endpoint is at /lb/<endpoint>/<path>. At the service it has its own host, with no prefix before the path.",
  ),
  "lb.pass-on": observed(
    "Method, path, query, headers and body reach the worker unchanged, and so do status, headers and body of its response.",
  ),
  "lb.connection": assumed(
    "Headers of one connection, such as Connection and TE, are not passed on, nor are trailers and 1xx responses.",
  ),
  "lb.websocket": assumed("A WebSocket upgrade returns 501 and reaches no worker."),
  "lb.stream": observed("Bodies are passed on as they arrive, in both directions."),
  "lb.key": observed("A request without the right bearer key returns 401 and reaches no worker."),
  "lb.key-kept": assumed("The worker does not receive the authorization header."),
  "lb.unauthorized": assumed('The body of a 401 is {"error":"Unauthorized"}.'),
  "lb.unknown-endpoint": assumed("An endpoint that does not exist, or is not a load-balancing endpoint, returns 404."),
  "lb.queue-refused": observed(
    'The queue of such an endpoint returns 400 {"error":"not allowed for QB API"}, except for /health.',
  ),
  "lb.worker-id": observed("The header X-Runpod-Worker-Id of a response names the worker that responded."),
  "lb.own-responses": assumed("A response of the load balancer itself has no such header."),
  "lb.health": observed(
    "A worker gets requests while its health check, GET /ping, returns 200; 204 means that it is starting.",
  ),
  "lb.health-interval": assumed("The health check is repeated every second."),
  "lb.ports": observed("A worker listens on PORT and answers health checks on PORT_HEALTH at HEALTH_CHECK_PATH."),
  "lb.chosen-ports": assumed(
    "The emulator chooses PORT and PORT_HEALTH for each program, because all of them share one machine.",
  ),
  "lb.hold": observed('A request waits up to 2 minutes for a worker, then returns 400 "timed out waiting for worker".'),
  "lb.affinity": observed(
    "X-Runpod-Worker-Id with an id prefers that worker; if it is not available, another one responds.",
  ),
  "lb.strict": observed(
    'With "strict <id>" no other worker responds: 404 affinity_worker_gone, or 400 worker_timeout after 5 minutes.',
  ),
  "lb.strict-resume": observed('With "strict-resume <id>" a worker that was scaled down is started again.'),
  "lb.least-busy": assumed("A request goes to the worker with the fewest open requests. A worker takes any number."),
  "lb.scaling": assumed(
    "Workers scale as under REQUEST_COUNT, by open and waiting requests, whatever the scaler type.",
  ),
  "lb.idle-timeout": assumed("A worker without requests stops after idleTimeout, down to workersMin."),
  "lb.processing": observed("A request that a worker has not completed after 5.5 minutes returns 524, or breaks off."),
  "lb.body-limit": observed(
    "A request body may have up to 30 MB. A larger one is rejected with 413 or, if it is chunked, cut off there (assumed).",
  ),
  "lb.response-limit": observed("A response body may have up to 30 MB. A larger one is cut off (assumed)."),
  "lb.unreachable": observed("A request to a worker that cannot be reached, or was lost, returns 502."),
  "lb.wrong-ports": observed(
    "If ports does not expose PORT or PORT_HEALTH, requests return 502, and the worker ends after 8 minutes.",
  ),
  "lb.no-retry": observed("A request that a worker has begun to process is never repeated."),
};
