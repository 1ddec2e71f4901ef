import type { Request, Scenario, ScenarioFields, ScenarioStep } from "./scenarios/scenario";
import { type OwnEndpoint, secondName, type TestedReply, type TestedService } from "./testedService";

/** Plays the steps of a scenario in order and records what the replies show. */
export async function verifyScenario(service: TestedService, { steps }: Scenario): Promise<void> {
  const replies: Record<string, TestedReply> = {};
  for (const step of steps) {
    if (step.pauseMs !== undefined) await service.pause(step.pauseMs);
    const reply = await replyTo(service, step, replies);
    if (step.as !== undefined) replies[step.as] = withId(reply, step.idOrElse);
    for (const [row, findingOf] of step.findings ?? []) service.note(row, findingOf(reply, replies, service.endpoint));
  }
}

/** Adds an id to a reply that does not contain one, if an id is given. */
function withId(reply: TestedReply, id: string | undefined): TestedReply {
  return id === undefined || typeof reply.body?.id === "string" ? reply : { ...reply, body: { id } };
}

async function replyTo(
  service: TestedService,
  { send: request, until }: ScenarioStep,
  replies: Record<string, TestedReply>,
): Promise<TestedReply> {
  const fill = (text: string) => filled(text, service.endpoint, replies);
  if (!until) return send(service, request, fill);
  for (let waited = 0; waited < until.atMostMs; waited += until.everyMs) {
    const reply = await send(service, request, fill);
    if (until.fits(reply)) return reply;
    await service.pause(until.everyMs);
  }
  throw new Error(`the job did not end within ${until.atMostMs / 1000} s`);
}

function send(service: TestedService, request: Request, fill: (text: string) => string): Promise<TestedReply> {
  if ("graphql" in request) return service.graphql(fill(request.graphql), request);
  if ("queue" in request) return service.queue(fill(request.queue), request);
  if ("lb" in request) return service.lb(request.lb, request);
  if ("rest" in request) return service.rest(request.rest, request);
  if ("v2" in request) return service.v2(fill(request.v2), { ...request, body: request.body && fill(request.body) });
  if ("save" in request) return service.graphql(mutation(service, request.save, request.selection), request);
  return service.elsewhere(request.elsewhere);
}

/** Fills in the ids of the run's endpoint, of its template, and of earlier replies. */
function filled(text: string, own: OwnEndpoint, replies: Record<string, TestedReply>): string {
  const known: Readonly<Record<string, string>> = {
    endpoint: own.id,
    template: own.templateId,
    second: secondName(own),
    pool: own.gpuIds,
  };
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = known[name];
    if (value !== undefined) return JSON.stringify(value).slice(1, -1);
    const reply = replies[name];
    if (typeof reply?.body?.id === "string") return reply.body.id;
    throw new Error(`the ${name} was not created: the service responded with ${reply?.status} and no id`);
  });
}

const FIELDS =
  "id name gpuIds idleTimeout locations flashBootType scalerType scalerValue workersMin workersMax networkVolumeId";

/** Saves the run's endpoint, without workers unless `more` sets them. */
function mutation({ endpoint }: TestedService, more: ScenarioFields, selection = FIELDS): string {
  const { id, name, gpuIds, templateId } = endpoint;
  const strings = Object.entries({ id, name, gpuIds, templateId }).map(([key, value]) => [key, JSON.stringify(value)]);
  const input: ScenarioFields = { ...Object.fromEntries(strings), workersMin: "0", workersMax: "0", ...more };
  const written = Object.entries(input).filter(([, value]) => value !== undefined);
  const fields = written.map(([key, value]) => `${key}: ${value}`).join(", ");
  return `mutation { saveEndpoint(input: { ${fields} }) { ${selection} } }`;
}
