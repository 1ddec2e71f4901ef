import type { Job } from "../jobs/jobRecord";
import { openRecording, type Recorder, type Recording } from "./recording";

/** A job that has ended, as seen by a client or a webhook receiver. */
interface EndedJob {
  readonly endpointId: string;
  readonly job: Job;
  /** When the job was submitted, in milliseconds since the epoch, if this process submitted it. */
  readonly submittedAt?: number | undefined;
}

/** The columns in the line of a job. */
const JOB_COLUMNS = ["endpoint", "job", "status", "submittedAt", "delayMs", "runMs"] as const;

const NOT_MEASURED: Readonly<Record<"client" | "webhook", Readonly<Record<string, string>>>> = {
  client: { arrivals: "only the jobs whose end this client saw" },
  webhook: { submittedAt: "a delivery does not show it", arrivals: "only the jobs whose end was delivered" },
};

/**
 * Returns a function that records when jobs end, without their input, output or error. If the
 * folder can't be written, recording stops, and jobs are not affected.
 * @param stopped called once with the reason
 */
export function createJobRecorder(
  folder: string,
  by: Extract<Recorder, "client" | "webhook">,
  now: () => number,
  stopped: (error: unknown) => void,
): (ended: EndedJob) => void {
  let recording: Recording | undefined;
  let hasStopped = false;
  return ({ endpointId, job, submittedAt }) => {
    if (hasStopped) return;
    const measured = JOB_COLUMNS.filter((column) => by === "client" || column !== "submittedAt");
    try {
      recording ??= openRecording(folder, by, { measured, notMeasured: NOT_MEASURED[by] });
      const at = now();
      const { id, status, delayTime, executionTime } = job;
      const times = {
        ...(submittedAt !== undefined && { submittedAt: new Date(submittedAt).toISOString() }),
        ...(typeof delayTime === "number" && { delayMs: delayTime }),
        ...(typeof executionTime === "number" && { runMs: executionTime }),
      };
      const line = { kind: "job", by, at: new Date(at).toISOString(), endpoint: endpointId, job: id, status } as const;
      recording.append({ ...line, ...times }, at);
    } catch (error) {
      hasStopped = true;
      stopped(error);
    }
  };
}
