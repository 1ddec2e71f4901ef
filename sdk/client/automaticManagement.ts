import { type GraphqlStatusListener, howItEnded, isEndSign } from "../connection/endSigns";
import { API_VARIABLE, requireAddress } from "../connection/settings";
import { ServerlessGpuError } from "../errors/errors";
import type { ResponsePromise } from "../transport/responsePromise";
import { type Connected, overRestV2 } from "./connected";
import { statusOfRead } from "./statusOfRead";

/** The parts of a client, by name, each with its functions. */
type Parts = Record<string, Record<string, (...args: unknown[]) => unknown>>;

/** The functions that do not belong to an API. */
interface Closable extends AsyncDisposable {
  close(): Promise<void>;
}

type Over<Management> = (connected: Connected, onStatus: GraphqlStatusListener | undefined) => Management;

/**
 * Returns the functions of a client without the option `api`. If a call fails with status 410
 * before GraphQL has served the client, the client checks once whether GraphQL is gone. If it is,
 * that call is made again over REST v2, and so are all later calls. Other statuses are ignored,
 * because a client has no state that says which endpoints REST v2 must list.
 */
export function automaticManagement<Management extends Closable>(
  connected: Connected,
  over: Over<Management>,
): Management {
  const first = over(connected, noteStatus);
  let used: Management = first;
  let isServed = false;
  let asking: Promise<boolean> | undefined;

  function noteStatus(status: number | undefined): void {
    isServed ||= status === undefined || !isEndSign(status);
  }

  /** Returns `true` if a call that has failed with this error is to be made over REST v2. */
  async function switches(error: unknown): Promise<boolean> {
    if (isServed || !(error instanceof ServerlessGpuError) || error.status !== 410) return false;
    asking ??= isGone(connected);
    if (!(await asking) || isServed) return false;
    if (used === first) used = over(overRestV2(connected), undefined);
    return true;
  }

  function automatic(part: string, name: string): (...args: unknown[]) => unknown {
    return (...args) => {
      const call = () => (used as unknown as Parts)[part]?.[name]?.(...args);
      const result = call();
      return used === first && result instanceof Promise ? withSecond(result, switches, call) : result;
    };
  }

  const { close, [Symbol.asyncDispose]: dispose, ...parts } = first;
  const wrapped = Object.entries(parts as unknown as Parts).map(([part, functions]) => [
    part,
    Object.fromEntries(Object.keys(functions).map((name) => [name, automatic(part, name)])),
  ]);
  return { ...Object.fromEntries(wrapped), close, [Symbol.asyncDispose]: dispose };
}

/**
 * Returns the promise of a call. If the call fails and `switches` returns `true` for its error, the
 * call is made again.
 */
function withSecond(
  first: Promise<unknown>,
  switches: (error: unknown) => Promise<boolean>,
  again: () => unknown,
): Promise<unknown> {
  let last = first;
  const promise = first.catch(async (error: unknown) => {
    if (!(await switches(error))) throw error;
    last = again() as Promise<unknown>;
    return last;
  });
  const withResponse = () => promise.then(() => (last as ResponsePromise<unknown>).withResponse());
  return Object.assign(promise, { withResponse });
}

/** Asks the service whether GraphQL is gone, and warns if it is. */
async function isGone({ options, calls }: Connected): Promise<boolean> {
  const status = await statusOfRead(options);
  if (status !== 410) return false;
  calls.warn?.(
    `${requireAddress(options, "graphqlUrl")} no longer serves GraphQL (${howItEnded(status)}), so this client uses ` +
      `REST v2, which accepts 60 requests a minute, not 180. To always use it, set ${API_VARIABLE}=v2 or the client's option api`,
  );
  return true;
}
