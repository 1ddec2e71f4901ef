import { inspect } from "node:util";
import { RejectedError } from "../../../sdk";
import { CANARY, withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";

describe("a redirect", () => {
  test.each([
    301, 302, 303, 307, 308,
  ])("a redirect is not followed, so that the key is never sent to another host", async (status) => {
    const elsewhere: string[] = [];
    await using other = await startRawServer((request, response) => {
      elsewhere.push(request.url ?? "");
      response.end("{}");
    });
    let requests = 0;
    await using server = await startRawServer((request, response) => {
      requests++;
      response.writeHead(status, { location: `${other.url}${request.url}&api_key=${CANARY}` }).end();
    });
    const client = clientOf(server);
    const queue = client.endpoint("e1");
    for (const call of [
      () => client.endpoints.list(),
      () => client.pods.get("p1"),
      () => queue.run({ input: {} }),
      () => queue.job("j1").wait(),
      () => queue.openaiStream("v1/chat/completions", { body: {} }),
    ]) {
      requests = 0;
      const error = withoutCanary(
        await call().then(
          () => undefined,
          (failure: unknown) => failure,
        ),
      );
      expect(error).toBeInstanceOf(RejectedError);
      expect(error.message).toContain(`a redirect to "${other.url}`);
      expect(error.message).toMatch(/which the client does not follow. Set the URL of the service itself$/);
      expect(inspect(error, { showHidden: true, depth: 10 })).not.toContain(CANARY);
      expect(requests).toBe(1);
    }
    expect(elsewhere).toEqual([]);
    await client.close();
  });
});
