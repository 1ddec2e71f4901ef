const { connect } = require("node:net");

/**
 * Repeats the same GET on `concurrency` connections for a while, and counts the responses. To
 * measure the server and not itself, it does as little as possible: it only counts bytes, because
 * all responses have the same length.
 * @param {{ port: number, path: string, headers?: Readonly<Record<string, string>>, concurrency:
 * number, ms: number }} options
 * @returns {Promise<number>} responses per second
 */
async function requestsPerSecond({ port, path, headers = {}, concurrency, ms }) {
  const lines = [`GET ${path} HTTP/1.1`, "host: 127.0.0.1", ...Object.entries(headers).map((each) => each.join(": "))];
  const request = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
  let responses = 0;
  let isOver = false;
  const sockets = Array.from({ length: concurrency }, () =>
    repeat(
      port,
      request,
      () => responses++,
      () => isOver,
    ),
  );
  const startedAt = performance.now();
  await new Promise((resolve) => setTimeout(resolve, ms));
  isOver = true;
  const rate = responses / ((performance.now() - startedAt) / 1000);
  await Promise.all(sockets);
  return rate;
}

/**
 * @param {number} port
 * @param {Buffer} request
 * @param {() => void} count
 * @param {() => boolean} isOver
 * @returns {Promise<void>}
 */
function repeat(port, request, count, isOver) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let received = 0;
    let length = 0;
    socket.on("connect", () => socket.write(request));
    socket.on("data", (chunk) => {
      received += chunk.length;
      if (length === 0) length = responseLength(chunk);
      if (received < length) return;
      received = 0;
      count();
      if (isOver()) socket.destroy();
      else socket.write(request);
    });
    socket.on("error", reject);
    socket.on("close", () => resolve());
  });
}

/**
 * Returns the length of the response that begins with this chunk, in bytes.
 * @param {Buffer} chunk
 */
function responseLength(chunk) {
  const text = chunk.toString("latin1");
  const head = text.indexOf("\r\n\r\n");
  const body = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  if (!text.startsWith("HTTP/1.1 200") || head < 0 || body === undefined)
    throw new Error(`unexpected response: ${text}`);
  return head + 4 + Number(body);
}

module.exports = { requestsPerSecond };
