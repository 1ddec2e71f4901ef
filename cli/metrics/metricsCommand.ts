import { InvalidArgumentError } from "commander";
import { declareCommand } from "../declareCommand";
import { ownPackage } from "../ownPackage";
import type { MetricsFlags } from "./metrics";
import type { Address } from "./server";

export const metricsCommand = declareCommand({
  name: "metrics",
  summary: "Export metrics for Prometheus, and record them",
  description:
    "Serves metrics of the account's endpoints on /metrics until you interrupt it. It reads the " +
    "service on its own schedule, with at most 20 management requests a minute, so a scrape sends no requests. It changes nothing.",
  hasApi: true,
  options: (command) =>
    command
      .option("--listen <host:port>", "the address to listen on (default: 127.0.0.1:9837)", parseAddress)
      .option("--record <folder>", "also append the measurements to a file in this folder, one file for each day")
      .option(
        "--stack [name]",
        "only the endpoints in the state of this stack (if you give no name: the folder's selected stack). Also exports the settings in that state, which the alerts Drift and EndpointGone need",
      )
      .option("--filter <name>", "only endpoints whose name contains this text; with a *, the whole name must match"),
  examples: [
    "npx pulumi-serverless-gpu metrics",
    "npx pulumi-serverless-gpu metrics --listen 0.0.0.0:9837 --record /var/lib/serverless-gpu",
    "npx pulumi-serverless-gpu metrics --stack prod --api v2",
    "npx pulumi-serverless-gpu metrics --filter 'prod-*'",
  ],
  exitCodes: {
    0: "interrupted",
    2: "wrong usage: an unknown option, an invalid value of an option, or both --stack and --filter",
  },
  problem: metricsProblem,
  load: () => require("./metrics") as typeof import("./metrics"),
  run: ({ metrics }, flags: MetricsFlags) => metrics(flags, ownPackage().version),
});

/** Returns an error message if the choice of endpoints is invalid. */
function metricsProblem({ stack, filter }: MetricsFlags): string | undefined {
  return stack !== undefined && filter !== undefined ? "give --stack or --filter, not both." : undefined;
}

function parseAddress(text: string): Address {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]:|([^:]*):|)(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError("Give an address such as 127.0.0.1:9837, or a port.");
  return { host: bracketed ?? (plain || "127.0.0.1"), port: Number(port) };
}
