import { connect } from "node:http2";

const LOOK_EVERY_MS = 500;

let isWatching = false;

/**
 * Ends this process when the engine that started it is killed. Otherwise, the process would keep
 * running, and a create in progress would collide with the next run. Watching the parent process is
 * not enough, because Pulumi's launcher puts a shell between the engine and the provider. This
 * function therefore keeps a connection open to the engine's gRPC server, whose host and port are
 * in an argument of this process. The connection stays open while the engine is slow or paused. If
 * the engine is killed, the operating system closes it.
 */
export function exitWithEngine(): void {
  if (isWatching) return;
  isWatching = true;
  const address = engineAddress(process.argv);
  if (address === undefined) exitWithParent();
  else watchServer(address, () => process.exit(1));
}

/**
 * Returns the last argument that consists of a host and a port. The last one is used because the
 * engine puts its own argument after all others.
 */
export function engineAddress(argv: readonly string[]): string | undefined {
  const address = /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:]+\]|localhost):\d+$/i;
  return argv.findLast((argument) => address.test(argument) && URL.canParse(`http://${argument}`));
}

/**
 * Calls `onGone` when nothing is listening on `address` anymore. A lost connection or a single
 * refused connection is not sufficient proof, because on some systems a listener with a full
 * backlog refuses connections.
 */
export function watchServer(address: string, onGone: () => void): void {
  let refusals = 0;

  function open(): void {
    let problem: NodeJS.ErrnoException | undefined;
    const session = connect(`http://${address}`);
    session.unref();
    session.once("connect", () => {
      refusals = 0;
    });
    session.on("error", (error) => {
      problem = error;
    });
    session.once("close", () => {
      if (problem?.code === "ECONNREFUSED") refusals += 1;
      if (refusals > 1) onGone();
      else again();
    });
  }

  function again(): void {
    setTimeout(open, LOOK_EVERY_MS).unref();
  }

  open();
}

/**
 * Ends this process when its parent process ends. Used if the process does not know the engine's
 * port. When the parent ends, the parent's id changes, except on Windows.
 */
function exitWithParent(): void {
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) process.exit(1);
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}
