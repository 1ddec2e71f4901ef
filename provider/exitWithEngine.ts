import { connect } from "node:http2";

const LOOK_EVERY_MS = 500;

let isWatching = false;

/**
 * Ends this process when the engine that started it was killed. Pulumi leaves it running, and a create that it had begun
 * would go on behind the next run. The parent does not tell: Pulumi's own launcher is a shell between engine and provider.
 * So this keeps a connection to the engine's gRPC server, whose address is an argument of this process. An engine that is
 * slow or paused keeps its connection; that of one that was killed is closed by the operating system.
 */
export function exitWithEngine(): void {
  if (isWatching) return;
  isWatching = true;
  const address = engineAddress(process.argv);
  if (address === undefined) exitWithParent();
  else watchServer(address, () => process.exit(1));
}

/** The last argument that is a host and a port: the engine puts it behind any others. */
export function engineAddress(argv: readonly string[]): string | undefined {
  const address = /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:]+\]|localhost):\d+$/i;
  return argv.findLast((argument) => address.test(argument) && URL.canParse(`http://${argument}`));
}

/**
 * Calls `onGone` once nothing listens at an address any more. A lost connection alone does not count, nor does a single
 * refusal: a listener with a full backlog refuses on some systems.
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

/** For a process that was not told where its engine is. An orphan gets another parent (not on Windows, where it goes on). */
function exitWithParent(): void {
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) process.exit(1);
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}
