// A bare node:http server that sends the same response to every request: the first argument, as
// JSON.
const { createServer } = require("node:http");

const [, , body = "{}"] = process.argv;
const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };

const server = createServer((incoming, outgoing) => {
  incoming.resume();
  outgoing.writeHead(200, headers);
  outgoing.end(body);
});
server.listen(0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.send?.({ port: address.port });
});
