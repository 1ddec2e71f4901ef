import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/*
 * A stand-in for the service's queue that shares nothing with the emulator and counts what reached
 * it. Its jobs advance one step each time that somebody asks for them.
 */

/** A fault of the network or of a gateway, in a request or its response. */
export const FAULTS = [
  "none",
  "lost before",
  "lost after",
  "refused",
  "fault before",
  "fault after",
  "web page after",
  "cut after",
  "hang after",
] as const;
export type Fault = (typeof FAULTS)[number];

export const OPERATIONS = ["run", "runsync", "status", "stream", "cancel", "retry", "purge-queue"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The fault of the n-th request of an operation. Requests after the last have none. */
export type Network = Partial<Record<Operation, readonly Fault[]>>;

/** The behavior of a job, which is its input. */
export interface Task {
  /** The name of the submit that created it. */
  readonly tag: string;
  readonly pieces: number;
  /** How many of its runs fail. */
  readonly fails: number;
}

export interface CountedJob {
  readonly id: string;
  readonly task: Task;
  status: "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "CANCELLED";
  runs: number;
  made: number;
  waiting: string[];
  /** The pieces in responses that reached the client, and in lost ones. */
  readonly delivered: string[];
  readonly lost: string[];
  retries: number;
  isPurged: boolean;
}

/** A request that was not refused: it may have had its effect. */
export interface Effective {
  readonly operation: Operation;
  /** The submit's tag, or the job's id. */
  readonly about: string;
  readonly at: number;
}

export interface CountingService {
  readonly url: string;
  readonly jobs: ReadonlyMap<string, CountedJob>;
  readonly effective: readonly Effective[];
  /** Time of each purge. */
  readonly purgedAt: readonly number[];
  /** Requests of any kind. */
  requests(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Called when it is known whether the client gets the response. */
  readonly delivered?: (isDelivered: boolean) => void;
}

const record = ({ id, status, task, runs }: CountedJob) => ({
  id,
  status,
  ...(status === "COMPLETED" && { output: { tag: task.tag, runs } }),
  ...(status === "FAILED" && { error: "as it was told to" }),
});

const NOT_FOUND: Answer = { status: 404, body: { title: "Not Found" } };

/** One event of a job. */
function advance(job: CountedJob): void {
  if (job.status === "IN_QUEUE") {
    job.status = "IN_PROGRESS";
    job.runs++;
    job.made = 0;
  } else if (job.status === "IN_PROGRESS" && job.made < job.task.pieces) {
    job.waiting.push(`${job.runs}.${job.made++}`);
  } else if (job.status === "IN_PROGRESS") {
    job.status = job.runs <= job.task.fails ? "FAILED" : "COMPLETED";
  }
}

function createModel() {
  const jobs = new Map<string, CountedJob>();
  const purgedAt: number[] = [];

  function submit(task: Task): CountedJob {
    const id = `job-${jobs.size + 1}`;
    const fresh = { status: "IN_QUEUE", runs: 0, made: 0, retries: 0, isPurged: false } as const;
    const job: CountedJob = { id, task, ...fresh, waiting: [], delivered: [], lost: [] };
    jobs.set(id, job);
    return job;
  }

  function purge(): Answer {
    purgedAt.push(performance.now());
    const waiting = [...jobs.values()].filter(({ status, isPurged }) => status === "IN_QUEUE" && !isPurged);
    for (const job of waiting) job.isPurged = true;
    return { status: 200, body: { removed: waiting.length, status: "completed" } };
  }

  function stream(job: CountedJob): Answer {
    const pieces = job.waiting.splice(0);
    return {
      status: 200,
      body: { status: job.status, stream: pieces.map((output) => ({ output })) },
      delivered: (isDelivered) => void (isDelivered ? job.delivered : job.lost).push(...pieces),
    };
  }

  function retry(job: CountedJob): Answer {
    if (job.status !== "FAILED") return { status: 400, body: { title: "Bad Request" } };
    job.status = "IN_QUEUE";
    job.retries++;
    job.waiting = [];
    return { status: 200, body: record(job) };
  }

  function answer(operation: Operation, jobId: string, body: string): Answer {
    if (operation === "purge-queue") return purge();
    if (operation === "run" || operation === "runsync") {
      return { status: 200, body: record(submit((JSON.parse(body) as { input: Task }).input)) };
    }
    const job = jobs.get(jobId);
    if (!job || job.isPurged) return NOT_FOUND;
    if (operation === "retry") return retry(job);
    if (operation === "cancel" && ["IN_QUEUE", "IN_PROGRESS"].includes(job.status)) job.status = "CANCELLED";
    if (operation === "cancel") return { status: 200, body: record(job) };
    advance(job);
    return operation === "stream" ? stream(job) : { status: 200, body: record(job) };
  }

  return { jobs, purgedAt, answer };
}

/** Starts a service behind a network with faults. */
export async function startCountingService(network: Network): Promise<CountingService> {
  const model = createModel();
  const effective: Effective[] = [];
  const seen = new Map<Operation, number>();
  let requests = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests++;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const [operation, jobId = ""] = (request.url ?? "").replace(/^\/v2\/\w+\/|\?.*$/g, "").split("/");
    const name = operation as Operation;
    const number = seen.get(name) ?? 0;
    seen.set(name, number + 1);
    const fault = network[name]?.[number] ?? "none";
    if (fault === "refused") return respond(response, 429, "{}");
    const about = body === "" ? jobId : (JSON.parse(body) as { input: Task }).input.tag;
    effective.push({ operation: name, about, at: performance.now() });
    if (fault === "lost before") return void request.socket.destroy();
    if (fault === "fault before") return respond(response, 500, "{}");
    const { status, body: said, delivered } = model.answer(name, jobId, body);
    delivered?.(fault === "none");
    play(fault, request, response, status, JSON.stringify(said));
  }

  const server = createServer((request, response) => void handle(request, response).catch(() => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    jobs: model.jobs,
    effective,
    purgedAt: model.purgedAt,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The fault of the response, after the request has had its effect. */
function play(fault: Fault, request: IncomingMessage, response: ServerResponse, status: number, body: string): void {
  if (fault === "none") respond(response, status, body);
  else if (fault === "lost after") request.socket.destroy();
  else if (fault === "fault after") respond(response, 500, "{}");
  else if (fault === "web page after") respond(response, 200, "<html>Bad gateway</html>");
  else if (fault === "cut after") respond(response, 200, body.slice(0, body.length / 2));
}

function respond(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(body);
}
