import { container, FULL_GPU_ADVICE, STARTING, type State, starts, system, waiting, waits } from "./state";

const pulling = (ago: number, text: string) => waits([system(ago, "create pod: begin"), system(ago - 1, text)]);

const PULL_ERRORS = [
  "error pulling image: manifest unknown",
  "image pull: me/llama:3: failed: Error response from daemon: manifest for me/llama:3 not found: manifest unknown",
  "Error response from daemon: pull access denied for me/llama, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
  "failed to pull image: unauthorized: authentication required",
  "error pulling image: toomanyrequests: You have reached your unauthenticated pull rate limit.",
  "failed to pull image: dial tcp: lookup ghcr.io on 10.0.0.2:53: no such host",
  "no matching manifest for linux/amd64 in the manifest list entries",
  "failed to register layer: write /usr/lib/libtorch.so: no space left on device",
  "error pulling image: x509: certificate signed by unknown authority",
  'Error response from daemon: Get "https://ghcr.io/v2/": net/http: request canceled while waiting for connection',
  'Error response from daemon: Head "https://ghcr.io/v2/me/llama/manifests/3": EOF',
  "error pulling image: invalid reference format",
];

const PROGRESS = [
  "Pulling from me/llama",
  "3f4a: Downloading [=====>    ] 1.2GB/9.8GB",
  "3f4a: Extracting [====>  ]",
  "image pull: me/llama:3: pending",
  "3f4a5b6c7d8e: Verifying Checksum",
  "3f4a5b6c7d8e: Download complete",
  "loading container image from cache",
];

export const pulls: State[] = [
  ...PULL_ERRORS.map(
    (text): State => ({
      title: `pull error: ${text}`,
      world: pulling(30, text),
      causes: ["image-pull"],
      graphql: "hides",
    }),
  ),
  ...PROGRESS.map(
    (text): State => ({
      title: `pull progress: ${text}`,
      world: pulling(30, text),
      causes: ["image-pulling", "cold-start"],
      fine: [],
      graphql: "hides",
    }),
  ),
  {
    title: "a pull error nine minutes ago, before the container printed",
    world: waits(
      [
        system(545, "create pod: begin"),
        system(540, "error pulling image: net/http: TLS handshake timeout"),
        system(500, "3f4a: Pull complete"),
        ...starts(490),
        container(5, "Loading checkpoint shards:  80%"),
      ],
      { up: 545 },
    ),
    causes: ["cold-start", "image-pulling"],
    graphql: "hides",
  },
  {
    title: "a pull error, then progress again",
    world: waits([
      system(90, "error pulling image: net/http: TLS handshake timeout"),
      system(10, "3f4a: Downloading [=====>    ] 1.2GB/9.8GB"),
    ]),
    causes: ["image-pulling", "cold-start"],
    graphql: "hides",
  },
  {
    title: "a pull error of one worker while its sibling runs",
    world: {
      jobs: waiting(4, 1),
      max: 2,
      workers: [
        { id: "a", status: "INITIALIZING", up: 60, log: [system(30, "error pulling image: toomanyrequests")] },
        { id: "b", status: "RUNNING", up: 900, log: [container(5, "Started.")] },
      ],
    },
    causes: [],
    fine: ["workers-busy", "image-pulling", "cold-start"],
    graphql: "hides",
  },
  {
    title: "a pull error of the new release while a stale sibling runs",
    world: {
      jobs: waiting(4, 1),
      max: 2,
      workers: [
        { id: "a", status: "INITIALIZING", up: 60, log: [system(30, "error pulling image: manifest unknown")] },
        { id: "b", status: "RUNNING", up: 900, stale: true, log: [container(5, "Started.")] },
      ],
      rollout: { inProgress: true, onLatest: 0, total: 2 },
    },
    causes: ["image-pull"],
    fine: ["rollout"],
    graphql: "hides",
  },
  {
    title: "a wrong tag was rolled out, and nothing waits",
    world: {
      workers: [
        { id: "a", status: "INITIALIZING", up: 60, log: [system(30, "error pulling image: manifest unknown")] },
        { id: "b", status: "INITIALIZING", up: 60, log: [system(30, "error pulling image: manifest unknown")] },
      ],
      rollout: { inProgress: true, onLatest: 0, total: 2 },
    },
    causes: ["image-pull"],
    fine: ["rollout"],
    graphql: "hides",
  },
  {
    title: "a wrong tag was rolled out, and jobs wait",
    world: {
      jobs: waiting(4),
      workers: [
        { id: "a", status: "INITIALIZING", up: 60, log: [system(30, "error pulling image: manifest unknown")] },
      ],
      rollout: { inProgress: true, onLatest: 0, total: 1 },
    },
    causes: ["image-pull"],
    fine: ["rollout"],
    graphql: "hides",
  },
  {
    title: "a wrong tag of a CPU endpoint",
    world: waits([system(30, "error pulling image: manifest unknown")], {}, { cpu: true }),
    causes: ["image-pull"],
    graphql: "hides",
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a pull error an hour ago, and the worker is unhealthy since",
    world: waits([system(3600, "error pulling image: manifest unknown")], { status: "UNHEALTHY", up: 3700 }),
    causes: ["image-pull"],
    fine: ["crash-loop"],
    graphql: "hides",
  },
  {
    title: "a handler's own job says that it cannot pull",
    world: waits(
      [
        ...starts(900),
        container(890, STARTING),
        container(5, "error pulling image from https://example.org/cat.png: 404 manifest unknown"),
      ],
      { status: "RUNNING", up: 900 },
      { jobs: waiting(3, 1) },
    ),
    causes: ["workers-busy"],
  },
  {
    title: "the pull is complete and the container has started",
    world: waits([system(30, "3f4a: Pull complete"), ...starts(12)], { up: 40 }),
    causes: ["cold-start"],
    fine: ["image-pulling"],
  },
  {
    title: "the log is empty for twenty minutes of initializing",
    world: waits([], { up: 1200 }),
    causes: [],
    fine: ["image-pulling"],
    graphql: "hides",
  },
];
