import { container, LOOP, STARTING, type State, starts, traceback, waiting, waits } from "./state";

/** What looks like a crash loop and is none. */
export const doubles: State[] = [
  {
    title: "one early crash, then it loads",
    world: waits(
      [
        ...starts(200),
        ...traceback(190),
        ...starts(180),
        container(60, "Loading checkpoint shards:  60%"),
        container(5, "Loading checkpoint shards:  80%"),
      ],
      { up: 200 },
    ),
    causes: ["cold-start", "image-pulling"],
    graphql: "hides",
  },
  {
    title: "two early crashes, then it serves",
    world: waits(
      [
        ...starts(200),
        ...traceback(190),
        ...starts(180),
        ...traceback(170),
        ...starts(160),
        container(100, STARTING),
        container(4, "Started."),
      ],
      { status: "RUNNING", up: 200 },
      { jobs: waiting(3, 1) },
    ),
    causes: ["workers-busy"],
  },
  {
    title: "three silent starts, four minutes apart",
    world: waits(starts(620, 380, 140), { up: 620 }),
    causes: [],
    fine: ["crash-loop"],
    graphql: "hides",
  },
  { title: "one silent start, ten seconds ago", world: waits(starts(10), { up: 20 }), causes: ["cold-start"] },
  {
    title: "two silent starts, because the host was changed",
    world: waits(starts(70, 10), { up: 70 }),
    causes: [],
    fine: ["cold-start"],
    graphql: "hides",
  },
  {
    title: "refresh_worker restarts it after each job, some of which failed",
    world: waits(
      [
        ...starts(95),
        container(90, STARTING),
        ...traceback(80, "ValueError: bad prompt"),
        container(79, "Finished."),
        ...starts(70),
        container(65, STARTING),
        ...traceback(50, "ValueError: bad prompt"),
        container(49, "Finished."),
        ...starts(40),
        container(35, STARTING),
        container(20, "Started."),
      ],
      { status: "RUNNING", up: 2000 },
      { jobs: waiting(3, 1) },
    ),
    causes: ["workers-busy"],
  },
  {
    title: "a failed job's traceback is the last line of a worker that works",
    world: waits(
      [
        ...starts(900),
        container(890, STARTING),
        container(60, "Finished."),
        container(8, "Started."),
        ...traceback(2, "ValueError: bad prompt"),
      ],
      { status: "RUNNING", up: 900 },
      { jobs: waiting(3, 1) },
    ),
    causes: ["workers-busy"],
    fine: ["jobs-failing"],
  },
  {
    title: "an optional import fails, and it goes on",
    world: waits(
      [
        ...starts(60),
        container(40, "ERROR: failed to import flash_attn, falling back to sdpa"),
        container(30, "Loading checkpoint shards:  20%"),
      ],
      { up: 60 },
    ),
    causes: ["cold-start", "image-pulling"],
    graphql: "hides",
  },
  {
    title: "it logs the word error while it works",
    world: waits(
      [...starts(900), container(890, STARTING), container(5, "step 100: mean squared error 0.013")],
      { status: "RUNNING", up: 900 },
      { jobs: waiting(3, 1) },
    ),
    causes: ["workers-busy"],
  },
  {
    title: "a stale worker crashed, the new one is busy",
    world: {
      jobs: waiting(3, 1),
      max: 1,
      workers: [
        { id: "old", status: "UNHEALTHY", stale: true, up: 5000, log: LOOP },
        {
          id: "b",
          status: "RUNNING",
          up: 100,
          log: [...starts(100), container(90, STARTING), container(2, "Started.")],
        },
      ],
    },
    causes: ["workers-busy", "rollout"],
    graphql: "hides",
  },
  {
    title: "a warning about deprecation is the last line of a worker that starts",
    world: waits(
      [
        ...starts(40),
        container(20, "FutureWarning: torch.load with weights_only=False raises an error in future versions"),
      ],
      { up: 40 },
    ),
    causes: ["cold-start", "image-pulling"],
    graphql: "hides",
  },
  {
    title: "a traceback is printed, then a retry succeeds at loading",
    world: waits(
      [
        ...starts(90),
        ...traceback(60, "requests.exceptions.ConnectionError: huggingface.co"),
        container(55, "Retrying in 5 s"),
        container(10, "Downloading model.safetensors: 40%"),
      ],
      { up: 90 },
    ),
    causes: ["cold-start", "image-pulling"],
    graphql: "hides",
  },
  {
    title: "yesterday's crash, and idle now",
    world: {
      jobs: {},
      workers: [
        {
          id: "a",
          status: "IDLE",
          up: 86000,
          log: [
            ...starts(86500),
            ...traceback(86400),
            ...starts(86300),
            container(86200, STARTING),
            container(50, "Finished."),
          ],
        },
      ],
    },
    causes: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
];
