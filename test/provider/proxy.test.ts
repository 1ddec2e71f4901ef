import { startEmulator } from "../../emulator";
import { startDynamicProvider } from "../support/dynamicProvider";
import { PASSWORD, startProxy } from "../support/tunnelProxy";

test.each(["graphql", "v2"])("the provider's process uses a proxy over %s", async (api) => {
  await using proxy = await startProxy();
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0 });
  emulator.seed({ templates: [{ id: "tpl", name: "tpl", imageName: "me/one:1" }] });
  const env = { ...emulator.env, HTTP_PROXY: proxy.url, SERVERLESS_GPU_API: api };
  await using provider = await startDynamicProvider(env);
  const { inputs } = await provider.check({}, { name: "llama", gpuIds: "ADA_24", templateId: "tpl" });
  const { id, outputs } = await provider.create(inputs);
  expect(emulator.endpoints.list()).toHaveLength(1);
  await provider.delete(id, outputs);
  expect(emulator.endpoints.list()).toEqual([]);
  expect(proxy.asked.map(({ host }) => host)).toContain(emulator.url.replace("http://", ""));
  expect(provider.output()).not.toContain(PASSWORD);
});
