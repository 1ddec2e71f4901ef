// The HTTP server of a load-balancing endpoint's worker. It needs no library of the service: it
// listens on PORT, and answers health checks on PORT_HEALTH, here the same port.
const { createServer } = require("node:http");
const { setTimeout: sleep } = require("node:timers/promises");

const { PORT = "80", HEALTH_CHECK_PATH = "/ping" } = process.env;

let isLoaded = false;

/** Stands for the load of a model. */
async function load() {
  await sleep(300);
  isLoaded = true;
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
async function respond(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://worker");
  // 204 until the model is loaded: the service holds requests until it is 200.
  if (pathname === HEALTH_CHECK_PATH) return response.writeHead(isLoaded ? 200 : 204).end();
  if (pathname !== "/generate") return response.writeHead(404).end();
  response.writeHead(200, { "content-type": "text/plain" });
  for (const word of (searchParams.get("prompt") ?? "").split(" ")) {
    response.write(`${word.toUpperCase()} `);
    await sleep(20);
  }
  return response.end();
}

createServer(respond).listen(Number(PORT));
void load();
