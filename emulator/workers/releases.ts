import type { EndpointRecord } from "../model/endpointFields";
import type { WorkerContainer } from "./container";
import type { RuntimeContext } from "./context";
import type { WorkerPod } from "./worker";

/**
 * The release that a worker started with: a version of its endpoint, and its template at that time.
 */
type Release = Pick<WorkerPod, "slsVersion" | "container">;

/** The releases of one endpoint. */
export interface Releases {
  /**
   * Returns the release that a worker starts from. With `staleFlashBoot`, it is the previous
   * worker's release.
   */
  current(): Release;
  /** Returns `true` if workers keep using this version of the template. */
  isKept(container: WorkerContainer): boolean;
  /** Makes the next worker start from the template's current version. */
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
