import { chat } from "./chat";
import { completions } from "./completions";
import { embeddings } from "./embeddings";
import { type OpenAiInput, openAiError } from "./openAiJob";
import { EchoRefusal, MODEL, type Reply, type ReplyContext } from "./reply";
import { responses } from "./responses";

const ROUTES: Readonly<Record<string, (body: OpenAiInput["openai_input"], context: ReplyContext) => Reply>> = {
  "/v1/chat/completions": chat,
  "/v1/completions": completions,
  "/v1/embeddings": embeddings,
  "/v1/responses": responses,
};

const MODELS = "/v1/models";

/**
 * Responds like a worker that runs an OpenAI-compatible server with a model that repeats the last
 * message. Yields the whole response or, with `stream: true`, its server-sent events.
 */
export function* echoModel({ openai_route, openai_input }: OpenAiInput, context: ReplyContext): Generator<unknown> {
  if (openai_route === MODELS || openai_route.startsWith(`${MODELS}/`)) {
    yield models(openai_route.slice(MODELS.length + 1), context);
    return;
  }
  const respond = Object.hasOwn(ROUTES, openai_route) ? ROUTES[openai_route] : undefined;
  if (!respond) {
    yield openAiError(404, `The path ${openai_route} does not exist.`);
    return;
  }
  try {
    const reply = respond(openai_input, context);
    if (openai_input.stream === true && reply.events) yield* reply.events();
    else yield reply.whole;
  } catch (error) {
    if (!(error instanceof EchoRefusal)) throw error;
    yield openAiError(400, error.message, error.param);
  }
}

function models(id: string, { created }: ReplyContext): unknown {
  const model = { id: MODEL, object: "model", created, owned_by: "emulator" };
  if (id === "") return { object: "list", data: [model] };
  return id === MODEL ? model : openAiError(404, `The model ${id} does not exist.`, "model");
}
