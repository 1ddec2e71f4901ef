import type { EndpointRecord } from "../model/endpointFields";
import type { WorkerContainer } from "./container";
import type { RuntimeContext } from "./context";
import type { WorkerPod } from "./worker";

/** The origin of a worker: a version of its endpoint, with the template as it was then. */
type Release = Pick<WorkerPod, "slsVersion" | "container">;

/** The releases of one endpoint. */
export interface Releases {
  /** Returns the release that a worker starts from: with `staleFlashBoot`, that of the last one. */
  current(): Release;
  /** Returns `true` if workers keep this version of the template. */
  isKept(container: WorkerContainer): boolean;
  /** Lets the next worker start from the present version of the template. */
  forget(): void;
}

export function createReleases(record: EndpointRecord, context: RuntimeContext): Releases {
  let last: Release | undefined;

  function isKept({ templateId }: WorkerContainer): boolean {
    return context.staleFlashBoot && record.flashBootType !== null && templateId === record.templateId;
  }

  return {
    current() {
      if (last && isKept(last.container)) return last;
      const { version, templateId, container } = record;
      last = {
        slsVersion: version,
        container: container ? { ...container, templateId: "" } : context.containerOf(templateId),
      };
      return last;
    },
    isKept,
    forget() {
      last = undefined;
    },
  };
}
