import { connect } from "node:http2";

const LOOK_EVERY_MS = 500;

let isWatching = false;

/**
 * Ends this process when the engine that started it is killed. Otherwise it would keep running, and
 * a create in progress would collide with the next run. The parent process does not show whether
 * the engine runs, because Pulumi's launcher puts a shell between engine and provider. So this
 * keeps a connection to the engine's gRPC server, whose host and port are an argument of this
 * process. A slow or paused engine keeps the connection; the operating system closes it for a
 * killed engine.
 */
export function exitWithEngine(): void {
  if (isWatching) return;
  isWatching = true;
  const address = engineAddress(process.argv);
  if (address === undefined) exitWithParent();
  else watchServer(address, () => process.exit(1));
}

/**
 * Returns the last argument that is a host and a port: the engine puts its own after all others.
 */
export function engineAddress(argv: readonly string[]): string | undefined {
  const address = /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:]+\]|localhost):\d+$/i;
  return argv.findLast((argument) => address.test(argument) && URL.canParse(`http://${argument}`));
}

/**
 * Calls `onGone` when nothing listens on `address` any more. A lost connection or a single refusal
 * does not count: on some systems a listener with a full backlog refuses connections.
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
 * Ends this process when its parent process ends, for a process that does not know the engine's
 * port. The parent's id then changes, except on Windows.
 */
function exitWithParent(): void {
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) process.exit(1);
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}
