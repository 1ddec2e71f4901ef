import type { GroupProcess } from "./groupProcess";

/** A process that is launched later unless it is stopped first. */
interface DelayedProcess extends GroupProcess {
  /** `true` if the process was stopped or killed on purpose. */
  readonly isStopped: boolean;
  launchIn(delayMs: number): void;
}

/** @param onCancelled called once if the process is stopped before it is launched */
export function delayedProcess(launch: () => GroupProcess, onCancelled: () => void): DelayedProcess {
  let launched: GroupProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function end(how: "stop" | "kill"): void {
    if (launched) launched[how]();
    else if (!isStopped) queueMicrotask(onCancelled);
    clearTimeout(timer);
    isStopped = true;
  }

  return {
    get isStopped() {
      return isStopped;
    },
    launchIn(delayMs) {
      const start = () => {
        launched = launch();
      };
      if (isStopped) return;
      if (delayMs > 0) timer = setTimeout(start, delayMs);
      else start();
    },
    stop: () => end("stop"),
    kill: () => end("kill"),
    freeze: () => launched?.freeze(),
  };
}
