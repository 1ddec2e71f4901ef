/** The container of a worker: its template, as it was when the worker started. */
export interface WorkerContainer {
  /** Id of the template. */
  readonly templateId: string;
  /** The image with its tag. */
  readonly imageName: string;
  /** The environment variables of the template. */
  readonly env: Readonly<Record<string, string>>;
  /** The start command; empty for that of the image. */
  readonly dockerArgs: string;
  /** Size of the container disk in GB. */
  readonly containerDiskInGb: number;
  /** The exposed ports, each `<port>/http` or `<port>/tcp`. */
  readonly ports: readonly string[];
  /** Id of the registry credential that pulls the image, or `null`. */
  readonly containerRegistryAuthId: string | null;
}

/** The image of templates that the emulator knows only by their id. */
export const EXAMPLE_IMAGE = "example/image:latest";

/** Returns the container of a template that the emulator knows only by its id. */
export function exampleContainer(templateId: string): WorkerContainer {
  const empty = { env: {}, dockerArgs: "", ports: [], containerRegistryAuthId: null };
  return { templateId, imageName: EXAMPLE_IMAGE, containerDiskInGb: 50, ...empty };
}

/** Returns all environment variables of a worker: those of its template, and those that the service adds (observed). */
export function environmentOf({
  id,
  endpointId,
  container,
}: {
  readonly id: string;
  readonly endpointId: string;
  readonly container: WorkerContainer;
}): Record<string, string> {
  return { ...container.env, ENDPOINT_ID: endpointId, POD_ID: id, WORKER_API_KEY: `worker-key-of-${id}` };
}
