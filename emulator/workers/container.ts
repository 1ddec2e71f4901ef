import { EMPTY_CONTAINER, type EndpointContainer } from "../model/containerFields";
import { type Place, placeVariables } from "../model/places";

/** A worker's container as of the worker's start. It comes from the template or the endpoint. */
export interface WorkerContainer extends EndpointContainer {
  /** The template's id; empty if the endpoint has its own container. */
  readonly templateId: string;
}

/** The image of templates of which the emulator only knows the id. */
export const EXAMPLE_IMAGE = "example/image:latest";

/** Returns the container of a template of which the emulator only knows the id. */
export function exampleContainer(templateId: string): WorkerContainer {
  return { ...EMPTY_CONTAINER, templateId, imageName: EXAMPLE_IMAGE, containerDiskInGb: 50 };
}

/**
 * Returns all environment variables of a worker: those of its template, and those that the service
 * adds (observed).
 */
export function environmentOf({
  id,
  endpointId,
  container,
  place,
}: {
  readonly id: string;
  readonly endpointId: string;
  readonly container: WorkerContainer;
  readonly place: Place;
}): Record<string, string> {
  return {
    ...container.env,
    ...placeVariables(place),
    ENDPOINT_ID: endpointId,
    POD_ID: id,
    WORKER_API_KEY: `worker-key-of-${id}`,
  };
}
