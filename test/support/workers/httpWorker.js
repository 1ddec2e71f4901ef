// The HTTP server of a load-balancing endpoint's worker, for tests. It is healthy at the second
// ping.
const { createServer } = require("node:http");

const { PORT, PORT_HEALTH, HEALTH_CHECK_PATH = "/ping", RUNPOD_POD_ID } = process.env;
let pings = 0;

/** @type {import("node:http").RequestListener} */
function answerPing(_request, response) {
  pings += 1;
  response.writeHead(pings < 2 ? 204 : 200).end();
}

const app = createServer((request, response) => {
  if (request.url === HEALTH_CHECK_PATH && PORT === PORT_HEALTH) return answerPing(request, response);
  if (request.url === "/exit") process.exit(3);
  if (request.url === "/switch")
    return request.socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
  if (request.url === "/env") return response.end(JSON.stringify(process.env));
  if (request.url === "/trailers") {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.writeHead(200, { trailer: "x-sum" });
    response.addTrailers({ "x-sum": "1" });
    return response.end(`te: ${request.headers.te ?? "none"}`);
  }
  response.writeHead(200, { "x-path": request.url, "x-pod": RUNPOD_POD_ID, "x-host": request.headers.host });
  // Returns the same bytes as they arrive.
  request.pipe(response);
  return undefined;
});

app.listen(Number(PORT), "127.0.0.1");
if (PORT !== PORT_HEALTH) createServer(answerPing).listen(Number(PORT_HEALTH), "127.0.0.1");
