import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A local port that forwards to another one, and can stall. */
export interface StallingLine extends AsyncDisposable {
  readonly port: number;
  /** Forwards nothing more, and closes nothing. */
  stall(): void;
  /** Breaks the connections that stalled, and forwards new ones. */
  resume(): void;
}

export async function startStallingLine(target: number): Promise<StallingLine> {
  let isStalled = false;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {}).on("data", (bytes) => !isStalled && to.write(bytes));
      from.on("close", () => !isStalled && to.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stall: () => {
      isStalled = true;
    },
    resume() {
      isStalled = false;
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
