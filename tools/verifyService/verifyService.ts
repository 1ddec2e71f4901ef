import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { commandConnection } from "../../cli/connection/connection";
import { printLines, say } from "../../cli/terminal";
import { startEmulator } from "../../emulator";
import { systemReason } from "../../emulator/io/systemReason";
import type { Profile } from "../../emulator/model/fidelity";
import { type Client, createClient } from "../../sdk/client/client";
import { requireAddress } from "../../sdk/connection/settings";
import { createAgent, createDirectAgent } from "../../sdk/transport/agents";
import { announcement, boundsOf, isAgreed } from "./consent";
import { createOwnEndpoint, howToDelete, removeOwnEndpoint } from "./endpoint";
import { failureOf, scenariosFor, type Unplayed, verifyAll } from "./play";
import { createTestedService, type OwnEndpoint, type TestedConnection } from "./testedService";
import { type Removal, resultTable, type Transcript, transcriptOf } from "./transcript";

export interface VerifyFlags {
  readonly template: string;
  readonly yes?: boolean;
  readonly runJobs?: boolean;
  readonly gpu: string;
  readonly profile: Profile;
  readonly output: string;
}

/** Compares the service with the emulator and writes a transcript. Returns the exit code. */
export async function verifyService(flags: VerifyFlags): Promise<number> {
  // The rules being tested are those of GraphQL.
  const settings = await commandConnection({ api: "graphql", apiFrom: "whose rules this command compares" });
  const connection: TestedConnection = {
    apiKey: settings.apiKey,
    graphqlUrl: requireAddress(settings, "graphqlUrl"),
    restUrl: requireAddress(settings, "restUrl"),
    queueUrl: requireAddress(settings, "queueUrl"),
  };
  const name = `verify-service-${randomBytes(6).toString("hex")}`;
  const { template, gpu, runJobs = false } = flags;
  say(announcement(connection, name, { runJobs, gpu, template }));
  if (!flags.yes && !(await isAgreed())) {
    say("serverless-gpu verify-service: nothing was created, because you did not confirm");
    return 1;
  }
  reserve(flags.output);
  const client = createClient(settings);
  try {
    const transcript = await run(client, connection, { name, templateId: template, gpuIds: gpu }, flags);
    writeFileSync(flags.output, `${JSON.stringify(transcript, null, 2)}\n`);
    printLines(resultTable(transcript));
    say(`The transcript is in ${flags.output}.`);
    return exitCodeOf(transcript);
  } catch (error) {
    rmSync(flags.output, { force: true });
    throw error;
  } finally {
    await client.close();
  }
}

/** Creates the transcript file before the endpoint, so that the result can always be written. */
function reserve(file: string): void {
  try {
    closeSync(openSync(file, "wx"));
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === "EEXIST";
    const reason = isThere ? "already exists" : `cannot be created: ${systemReason(cause)}`;
    throw new Error(`--output ${file} ${reason}. Nothing was sent. Name another file`, { cause });
  }
}

function exitCodeOf({ complete, counts, endpoint }: Transcript): number {
  return complete && counts.differs === 0 && endpoint.deleted ? 0 : 1;
}

/** Creates the endpoint, plays the scenarios, and deletes the endpoint whatever happens. */
async function run(
  client: Client,
  connection: TestedConnection,
  wanted: Omit<OwnEndpoint, "id">,
  { profile, runJobs = false }: VerifyFlags,
): Promise<Transcript> {
  const startedAt = new Date();
  const interruption = watchInterruptions();
  const { maxRequests, maxMinutes } = boundsOf(runJobs);
  const emulator = await startEmulator({ profile, rateLimits: { limits: "off" } });
  const limit = setTimeout(() => interruption.stop(`the limit of ${maxMinutes} minutes`), maxMinutes * 60_000);
  try {
    emulator.templates.create({ id: wanted.templateId, name: "template", imageName: "image", isServerless: true });
    const expected = emulator.endpoints.create({ ...wanted, workersMin: 0, workersMax: 0 });
    const own = await createOwnEndpoint(client, wanted);
    const testedService = (to: TestedConnection, id: string, agent: ReturnType<typeof createAgent>) =>
      createTestedService({
        connection: to,
        endpoint: { ...wanted, id },
        profile,
        signal: interruption.signal,
        maxRequests,
        agent,
      });
    const { url, apiKey } = emulator;
    const local = { apiKey, graphqlUrl: url, restUrl: url, queueUrl: url };
    const service = testedService(connection, own.id, createAgent());
    const reference = testedService(local, expected.id, createDirectAgent());
    const scenarios = scenariosFor(runJobs);
    const onScenario = (scenario: string) => say(`playing ${scenario} …`);
    const unplayed = await verifyAll(service, reference, scenarios, { signal: interruption.signal, onScenario }).catch(
      (error): Unplayed => ({ rows: new Map(), stopped: failureOf(error) }),
    );
    say(`deleting the endpoint ${own.id} …`);
    interruption.deleting();
    const removal = await removeOwnEndpoint(client, own, service.requests);
    report(removal);
    await Promise.all([service.close(), reference.close()]);
    return transcriptOf({ startedAt, connection, profile, service, emulator: reference, unplayed, removal });
  } finally {
    clearTimeout(limit);
    interruption.end();
    await emulator.stop();
  }
}

function report({ deleted, id = "", problem }: Removal): void {
  if (deleted) return void say("The endpoint is gone.");
  say(
    `serverless-gpu verify-service: the endpoint ${id} could not be deleted: ${problem}. To delete it: ${howToDelete(id)}`,
  );
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Turns interrupts into an abort of the run, so that the endpoint is still deleted. */
function watchInterruptions() {
  const controller = new AbortController();
  let isDeleting = false;
  const stop = (reason: string) => controller.abort(new Error(reason));
  function interrupted(signal: string): void {
    if (isDeleting || controller.signal.aborted) return void say("Wait: the endpoint is being deleted.");
    say(`${signal}: ending the run and deleting the endpoint`);
    stop(signal);
  }
  for (const signal of SIGNALS) process.on(signal, interrupted);
  return {
    signal: controller.signal,
    stop,
    deleting() {
      isDeleting = true;
    },
    end() {
      for (const signal of SIGNALS) process.off(signal, interrupted);
    },
  };
}
