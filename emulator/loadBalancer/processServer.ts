import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import type { ServerPorts } from "../programs/launchServer";
import { framing, HEALTH_PATH, type HttpServer, hasBody, requestHeaders, responseHeaders } from "./httpServer";

const HOST = "127.0.0.1";

/** Returns the HTTP server of a worker process. */
export function processServer({ port, healthPort }: ServerPorts, healthPath: string = HEALTH_PATH): HttpServer {
  return {
    async respond(request, signal) {
      const { method, target, body } = request;
      const headers = { ...requestHeaders(request.headers), ...framing(request) };
      const outgoing = httpRequest({ host: HOST, port, method, path: target, headers, signal, agent: false });
      const begun = responseTo(outgoing);
      // Errors reach `begun`. A server may respond before it has read the whole body.
      if (hasBody(request)) pipeline(body, outgoing, () => {});
      else outgoing.end();
      const incoming = await begun;
      return { status: incoming.statusCode ?? 502, headers: responseHeaders(incoming.headers), body: incoming };
    },
    async ping(signal) {
      const outgoing = httpRequest({ host: HOST, port: healthPort, path: healthPath, signal, agent: false });
      const begun = responseTo(outgoing);
      outgoing.end();
      const incoming = await begun;
      incoming.resume();
      return incoming.statusCode ?? 0;
    },
  };
}

function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", resolve);
    // After the response has started, errors go to its body instead.
    outgoing.on("error", reject);
    // After an unsolicited 101, Node.js closes the connection without an error.
    outgoing.once("close", () => reject(new Error("the server has closed the connection without a response")));
  });
}
