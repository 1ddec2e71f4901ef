import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createClient, type RequestEvent } from "../../sdk";
import { systemClock } from "../../sdk/contract/clock";
import { commandConnection } from "../connection/connection";
import { NO_ENDPOINT, type StackFlag } from "../stack";
import { say } from "../terminal";
import { createExposition } from "./exposition";
import { createReadings, type Readings } from "./readings";
import { openRecorder } from "./recorder";
import { type Address, serveMetrics } from "./server";
import { wantedEndpoints } from "./wanted";

export interface MetricsFlags {
  readonly api?: string;
  /** @default 127.0.0.1:9837 */
  readonly listen?: Address;
  /** The folder to record into. @default none */
  readonly record?: string;
  /** The stack whose endpoints to read; `true` for the selected stack. @default all endpoints */
  readonly stack?: StackFlag;
  /** Part of a name, or a whole name in which `*` matches any text. @default all endpoints */
  readonly filter?: string;
}

const LISTEN: Address = { host: "127.0.0.1", port: 9837 };

/** Serves metrics until the process is interrupted. Returns the exit code. */
export async function metrics(flags: MetricsFlags, version: string): Promise<number> {
  const connection = await commandConnection(flags);
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  const tell = (message: string) => say(`serverless-gpu metrics: ${message}`);
  const client = createClient({ ...connection, onRequest: (event: RequestEvent) => readings.noteRequest(event) });
  const readings: Readings = createReadings({
    client,
    clock: systemClock,
    readState: flags.stack === undefined ? undefined : () => wantedEndpoints(flags.stack),
    isWanted: nameFilter(flags.filter),
    showsReleases: connection.api === "v2",
    say: tell,
  });
  try {
    const stack = typeof flags.stack === "string" ? flags.stack : "";
    const recorder = flags.record === undefined ? undefined : openRecorder(flags.record, readings, stack, tell);
    readings.onRound(() => recorder?.look());
    const isRecording = recorder && (() => recorder.isRecording);
    const api = connection.api ?? "graphql";
    const { render } = createExposition({ readings, version, api, isRecording });
    const server = await serveMetrics(flags.listen ?? LISTEN, render, tell);
    try {
      // Read once before printing the address, so that a permanent problem fails at the start.
      await Promise.race([readings.first(), aborted(interrupted.signal)]);
      if (interrupted.signal.aborted) return 0;
      if (readings.state?.latest()?.size === 0) throw new Error(NO_ENDPOINT);
      const { address, port, family } = server.address() as AddressInfo;
      const host = family === "IPv6" ? `[${address}]` : address;
      process.stdout.write(`http://${host}:${port}/metrics\n`);
      await Promise.race([readings.run(interrupted.signal), aborted(interrupted.signal)]);
    } finally {
      server.close();
      server.closeAllConnections();
      recorder?.close();
    }
    return 0;
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
    interrupted.abort();
    await client.close();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** Returns a function that selects endpoints by name. */
function nameFilter(pattern: string | undefined): ((endpoint: { readonly name: string }) => boolean) | undefined {
  if (pattern === undefined) return undefined;
  if (!pattern.includes("*")) return ({ name }) => name.includes(pattern);
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const whole = new RegExp(`^${parts.join(".*")}$`, "s");
  return ({ name }) => whole.test(name);
}
