import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** The password in the proxy's URL. No message may show it. */
export const PASSWORD = "proxy-passw0rd";

export type Tunnel = (socket: Socket, number: number) => "tunnel" | undefined;

/** A proxy that opens tunnels, unless `tunnel` handles a CONNECT itself. */
export async function startProxy(tunnel: Tunnel = () => "tunnel") {
  const asked: { readonly host: string; readonly authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_incoming, outgoing) => {
    outgoing.writeHead(501).end();
  });
  server.on("connect", (request, socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    asked.push({ host: String(request.url), authorization: request.headers["proxy-authorization"] });
    if (tunnel(socket, asked.length) !== "tunnel") return;
    const [host, port] = String(request.url).split(":");
    const target = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    target.on("error", () => socket.destroy());
    socket.on("close", () => target.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    host,
    url: `http://user:${PASSWORD}@${host}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      server.closeAllConnections();
    },
  };
}
