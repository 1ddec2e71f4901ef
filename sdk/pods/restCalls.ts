import type { SecretText } from "../errors/secretText";
import { decode } from "../transport/decode";
import type { Http } from "../transport/httpRequest";
import { decodeJson, retiredInterface } from "../transport/responseErrors";
import { send } from "../transport/send";
import { INTERFACE_PATHS } from "../transport/urls";
import { podSchema } from "./podSchema";
import { INCLUDES, type PodCalls } from "./pods";

/** Returns the requests over REST v1 at `restUrl`. */
export function restPodCalls(http: Http, apiKey: SecretText, restUrl: () => string): PodCalls {
  return {
    async get(operation, podId, includes, attempt) {
      const url = new URL(`${restUrl()}${INTERFACE_PATHS.restUrl}/pods/${podId}`);
      for (const include of INCLUDES) if (includes[include]) url.searchParams.set(include, "true");
      const headers = { authorization: `Bearer ${apiKey.reveal()}` };
      const response = await send(http, {
        name: "getPod",
        operation,
        method: "GET",
        url: url.href,
        headers,
        attempt,
      });
      const retired = retiredInterface(response, operation);
      if (retired) throw retired;
      return decode(podSchema, decodeJson(response, operation, http.clock.now()), operation);
    },
  };
}
