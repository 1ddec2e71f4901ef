/** A serverless endpoint as the service keeps it (contract, Serverless endpoint). */
export interface EndpointRecord {
  /** Identifier that it was given when it was created. */
  readonly id: string;
  /** Name of the endpoint. */
  name: string;
  /** GPU tiers in priority order, then exclusions, as a comma list. */
  gpuIds: string;
  /** Id of the serverless template. */
  templateId: string;
  /** Seconds before an idle worker shuts down under `QUEUE_DELAY`; without effect under `REQUEST_COUNT`. */
  idleTimeout: number;
  /** Countries or data centers as a comma list; `""` for any region. */
  locations: string;
  /** `FLASHBOOT` for faster cold starts, or `null`. */
  flashBootType: "FLASHBOOT" | null;
  /** How the number of workers follows the load. */
  scalerType: "QUEUE_DELAY" | "REQUEST_COUNT";
  /** Target of the scaler: seconds of delay for `QUEUE_DELAY`, requests per worker for `REQUEST_COUNT`. */
  scalerValue: number;
  /** Workers that always run. */
  workersMin: number;
  /** Workers that may run at once. */
  workersMax: number;
  /** Network volume that the workers mount, or `null`. */
  networkVolumeId: string | null;
  /** When it was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Counts the changes; a worker's pod shows it as `slsVersion`. */
  version: number;
}
