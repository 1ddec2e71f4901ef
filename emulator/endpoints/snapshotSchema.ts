import { z } from "zod";
import { JOB_STATES } from "../../sdk/contract/enums";
import { endpointRecordSchema } from "../model/endpointFields";

const time = z.number();
const count = z.int().min(0);

const job = z.looseObject({
  id: z.string(),
  operation: z.enum(["run", "runsync"]),
  request: z.looseObject({
    input: z.looseObject({}),
    policy: z.looseObject({ executionTimeout: z.number(), lowPriority: z.boolean(), ttl: z.number() }),
  }),
  status: z.enum(JOB_STATES),
  submittedAt: time,
  queuedAt: time,
  startedAt: time.optional(),
  endedAt: time.optional(),
  retries: count,
  stream: z.array(z.unknown()),
  ttlMs: z.number(),
  retentionMs: z.number(),
});

/** An endpoint in a data file. The schema must cover everything that the emulator reads later. */
export const endpointSnapshotSchema = z.looseObject({
  record: endpointRecordSchema,
  runtime: z.looseObject({
    jobs: z.array(job),
    counters: z.looseObject({ submitted: count, completed: count, failed: count, retried: count }),
    idleSince: time,
  }),
});
