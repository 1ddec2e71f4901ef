import type { Mutant } from "./mutants";

/** Faults in the rules that keep endpoints and jobs from being doubled or lost. Each must be noticed by its tests. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "a submit whose response was lost is sent again",
    file: "sdk/transport/retry.ts",
    from: 'repeatability === "submit" && effectUnknown',
    to: "false",
    tests: [
      { file: "test/sdk/jobs/submit.test.ts", title: "is sent exactly once" },
      { file: "test/sdk/jobs/jobSequences.test.ts" },
    ],
  },
  {
    name: "a purge is sent again like a read",
    file: "sdk/jobs/operations.ts",
    from: 'return await queue.request({ ...request, repeatability: "submit" });\n  } catch',
    to: "return await queue.request({ ...request });\n  } catch",
    tests: [
      { file: "test/sdk/jobs/sentOnce.test.ts", title: "a purge of the queue" },
      { file: "test/sdk/jobs/cancelAndRetry.test.ts", title: "a retry whose" },
      { file: "test/sdk/jobs/jobSequences.test.ts" },
    ],
  },
  {
    name: "a retry that may have run and failed again counts as done",
    file: "sdk/jobs/operations.ts",
    from: "if (job && !isRetryable(job.status)) return job;",
    to: "if (job) return job;",
    tests: [{ file: "test/sdk/jobs/cancelAndRetry.test.ts", title: "a retry whose" }],
  },
  {
    name: "a stream goes on in silence after a read that broke",
    file: "sdk/jobs/jobStream.ts",
    from: "if (!onGap) throw gap;",
    to: "if (!onGap) return undefined;",
    tests: [
      { file: "test/sdk/jobs/stream.test.ts", title: "never in silence" },
      { file: "test/sdk/jobs/jobSequences.test.ts" },
    ],
  },
  {
    name: "a fault of the service counts as a refusal",
    file: "sdk/transport/retry.ts",
    from: '  "RATE_LIMITED",\n',
    to: '  "RATE_LIMITED",\n  "SERVICE_FAULT",\n',
    tests: [
      { file: "test/sdk/jobs/submit.test.ts", title: "is sent exactly once" },
      { file: "test/sdk/jobs/jobSequences.test.ts" },
    ],
  },
  {
    name: "a delivery is remembered before it was passed on",
    file: "sdk/webhooks/webhookReceiver.ts",
    from: "      await options.onJob(job);\n      if (end !== undefined) delivered.add(end);",
    to: "      if (end !== undefined) delivered.add(end);\n      await options.onJob(job);",
    tests: [{ file: "test/sdk/webhooks/webhookReceiver.test.ts", title: "again after onJob failed" }],
  },
  {
    name: "a removed resource deletes the endpoint that another one has adopted",
    file: "provider/resource/adoption.ts",
    from: "  if (isHeld) {",
    to: "  if (isHeld && !owner) {",
    tests: [{ file: "test/pulumi/ownership.test.ts", title: "survives a rename" }],
    built: true,
  },
  {
    name: "an endpoint is adopted because of its name",
    file: "provider/endpoint/endpointHandlers.ts",
    from: 'onNameTaken: (existing) => refuseTakenName("an endpoint", existing, inputs.name),',
    to: 'onNameTaken: (existing) => existing[0] ?? refuseTakenName("an endpoint", existing, inputs.name),',
    tests: [{ file: "test/pulumi/ownership.test.ts", title: "not adopted by its name" }],
    built: true,
  },
  {
    name: "an account is recorded in which the endpoint was not seen",
    file: "provider/resource/location.ts",
    from: "  refuseOtherAccount(noun, outputs, connection, id);\n  return found();",
    to: "  return found();",
    tests: [{ file: "test/pulumi/ownershipAcrossProviders.test.ts", title: "another account is noticed" }],
    built: true,
  },
  {
    name: "a deletion is sent to an account in which the endpoint was not seen",
    file: "sdk/endpoints/deleteEndpoint.ts",
    from: "if (!endpoint && !wasSeen) options.onAbsent?.();",
    to: "",
    tests: [{ file: "test/pulumi/ownership.test.ts", title: "an update that calls nothing" }],
    built: true,
  },
  {
    name: "a move deletes before the new account is verified",
    file: "provider/endpoint/endpointHandlers.ts",
    from: "      await proveTarget(id, outputs, inputs);",
    to: "",
    tests: [{ file: "test/pulumi/ownership.test.ts", title: "is deleted in a move" }],
    built: true,
  },
];
