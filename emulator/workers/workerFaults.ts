import type { Handler } from "./jobHandlers";

/** How a start fails: the image cannot be pulled, or the container exits after each start. */
export type FailedStart = "image" | "crash";

/** A fault rule's effect on a starting worker. */
export interface StartFault {
  /** How long the service holds the worker back because no machine is free, in milliseconds. */
  readonly throttledMs: number;
  /** How long pulling the image takes in addition to the cold start, in milliseconds. */
  readonly imagePullMs: number;
  /** @default the worker starts */
  readonly failure?: FailedStart | undefined;
  /** `true` if the worker starts but takes no jobs. */
  readonly takesNoJobs?: boolean | undefined;
  /**
   * Calls `heal` when the rule is removed.
   * @default no rule applies
   */
  readonly onRemoved?: ((heal: () => void) => void) | undefined;
}

/**
 * The effects of fault rules on workers. Each call counts a worker or job that the rules may match.
 */
export interface WorkerFaults {
  /** Must be called when a worker starts. */
  atStart(endpointId: string, imageName: string): StartFault;
  /** Must be called when a worker starts a job. Returns `undefined` if no rule is due. */
  atJob(endpointId: string): "die" | "hang" | undefined;
}

/** Handlers that affect a worker without a program as SIGKILL and SIGSTOP affect a process. */
export const FAULTY: Readonly<Record<"die" | "hang", Handler>> = {
  die: (_job, { crash }) => crash(),
  hang: () => new Promise(() => {}),
};
