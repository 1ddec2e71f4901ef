import { declareCommand } from "../declareCommand";
import type { DoctorFlags } from "./doctor";

export const doctorCommand = declareCommand({
  name: "doctor",
  summary: "Check the setup, and show how to fix problems",
  description:
    "Finds what keeps the provider from working, and says how to fix it. Run it in the folder of your Pulumi program. " +
    "It changes nothing. It tests the key with one harmless query, and never prints the key.",
  hasApi: true,
  options: (command) =>
    command.option(
      "--json",
      'print one JSON object: {"version", "ok", "checks": [{"check", "status", "found", "fix"}]}',
    ),
  notes: `Checks:
  node         the version of Node.js
  pulumi       the Pulumi CLI on PATH, and its version
  pulumi-sdk   @pulumi/pulumi, as loaded from the program's folder, and its version
  package      pulumi-serverless-gpu is a direct dependency of the program, because the state names it
  config       the key and the service are set, in the environment or the stack's config; no name is misspelled
  addresses    the URLs are well formed, encrypted unless local, and respond
  api          the service will not shut down the management API soon
  key          the service accepts the key
  account      the key belongs to the account that serverless-gpu:account names; without it, the line to add
  names        no two endpoints, and no two network volumes of a data center, have the same name
  clock        this machine's clock is within a minute of the service's clock
  versions     the program and this command have the same version, and nothing is installed twice
  state        this version can read the state of the selected stack, and its endpoints can start (service runpod)

With --json, the status is ok, warning, failed or skipped. Warnings and failures have "fix".`,
  examples: [
    "npx pulumi-serverless-gpu doctor",
    "npx pulumi-serverless-gpu doctor --json | jq '.checks[] | select(.status == \"failed\")'",
  ],
  exitCodes: { 0: "no check failed; there may be warnings", 1: "a check failed", 2: "wrong usage: an unknown option" },
  load: () => require("./doctor") as typeof import("./doctor"),
  run: ({ doctor }, flags: DoctorFlags) => doctor(flags),
});
