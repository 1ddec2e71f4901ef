import { ServerlessGpuError } from "../errors/errors";
import type { CallContext } from "../transport/call";
import type { OpenLog } from "./calls";
import type { LogLine } from "./record";
import { readLog } from "./workerLog";

/**
 * The limits for the logs of a diagnosis: the total time, the time without a new line, and the
 * maximum number of bytes.
 */
const LIMITS = { totalMs: 5_000, quietMs: 1_000, maxBytes: 1_000_000 };
const TAIL = 100;

/** The last lines of a worker's log. */
interface Tail {
  readonly workerId: string;
  readonly lines: LogLine[];
  /** `true` if the log is longer than the part that was read. */
  readonly isCut: boolean;
}

/**
 * Reads the last lines of the workers' logs, for at most 5 s. Skips workers whose log can't be
 * read, because they have just ended.
 * @throws the first error if no log can be read
 */
export async function readWorkerLogs(
  context: CallContext,
  open: OpenLog,
  endpointId: string,
  workerIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Tail[]> {
  const failures: ServerlessGpuError[] = [];
  const read = async (workerId: string): Promise<Tail[]> => {
    const lines: LogLine[] = [];
    let isCut = false;
    const onCut = () => {
      isCut = true;
    };
    const question = { endpointId, workerId, tail: TAIL };
    try {
      const limits = { ...LIMITS, signal, onCut };
      for await (const { id: _, ...line } of readLog(context, open, question, limits)) lines.push(line);
    } catch (error) {
      if (!(error instanceof ServerlessGpuError)) throw error;
      failures.push(error);
      return [];
    }
    return [{ workerId, lines, isCut }];
  };
  const tails = (await Promise.all(workerIds.map(read))).flat();
  const [failure] = failures;
  if (tails.length === 0 && failure) throw failure;
  return tails;
}
