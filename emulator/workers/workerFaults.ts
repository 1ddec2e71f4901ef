import type { Handler } from "./jobHandlers";

/** How a start fails: the image cannot be pulled, or the container ends after each start. */
export type FailedStart = "image" | "crash";

/** The effect of a fault rule on a worker that starts. */
export interface StartFault {
  /**
   * The time that the service holds the worker back, because it has no machine for it, in
   * milliseconds.
   */
  readonly throttledMs: number;
  /**
   * The time that the worker's image takes to load, in addition to the cold start, in milliseconds.
   */
  readonly imagePullMs: number;
  /** @default the worker starts */
  readonly failure?: FailedStart | undefined;
  /** `true`: the worker starts, and takes no jobs. */
  readonly takesNoJobs?: boolean | undefined;
  /**
   * Calls `heal` when the rule is removed.
   * @default no rule applies
   */
  readonly onRemoved?: ((heal: () => void) => void) | undefined;
}

/**
 * The effects of fault rules on workers. Each call counts a worker or a job that the rules may
 * match.
 */
export interface WorkerFaults {
  /** Must be called when a worker starts. */
  atStart(endpointId: string, imageName: string): StartFault;
  /** Must be called when a worker starts a job. Returns `undefined` if no rule is due. */
  atJob(endpointId: string): "die" | "hang" | undefined;
}

/** Handlers that affect a worker without a program the way SIGKILL and SIGSTOP affect a process. */
export const FAULTY: Readonly<Record<"die" | "hang", Handler>> = {
  die: (_job, { crash }) => crash(),
  hang: () => new Promise(() => {}),
};
