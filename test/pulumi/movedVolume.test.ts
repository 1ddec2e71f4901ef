import type { Emulator } from "../../emulator";
import { newMachine, programOf, startService } from "../support/rollOuts";
import { createStack } from "./harness";

const { automaticName: _, ...GOOD } = programOf("good");

/** The program, with the volume under a logical name. */
const program = (name: string, volume: object, args: object = {}) => `
const { NetworkVolume, ServerlessEndpoint } = require("pulumi-serverless-gpu");
const volume = new NetworkVolume(${JSON.stringify(name)}, ${JSON.stringify({ size: 20, ...volume })});
new ServerlessEndpoint("llama", { ...${JSON.stringify({ ...GOOD, ...args })}, networkVolumeId: volume.id });
`;

const HERE = { dataCenterId: "EU-RO-1" };
const THERE = { dataCenterId: "US-KS-2" };

const state = ({ endpoints, volumes }: Emulator) => ({
  volumes: volumes.list().map(({ id, dataCenterId }) => [id, dataCenterId]),
  mounted: endpoints.list().map(({ networkVolumeId }) => networkVolumeId),
});

test.each([
  ["an explicit name", { name: "models" }],
  ["an automatic name", {}],
])(
  "rolling back a refused release that moved a volume with %s keeps the volume",
  async (_, name) => {
    await using emulator = await startService();
    const env = { SERVERLESS_GPU_API: "v2", SERVERLESS_GPU_SERVICE: "runpod", XDG_CACHE_HOME: newMachine() };
    const stack = await createStack({
      program: program("models", { ...name, ...HERE }),
      env: { ...emulator.env, ...env },
    });
    await stack.up();
    const [{ id: kept = "" } = {}] = emulator.volumes.list();

    const bad = { imageName: "me/llama-wrong" };
    await stack.writeProgram(program("models", { ...name, ...THERE }, bad));
    const refused = await stack.run(["up", "--yes", "--skip-preview"]);
    expect(refused.output).toContain("failed and was rolled back");
    expect(state(emulator)).toMatchObject({
      volumes: [
        [kept, "EU-RO-1"],
        [expect.anything(), "US-KS-2"],
      ],
      mounted: [kept],
    });

    await stack.writeProgram(program("models", { ...name, ...HERE }));
    const preview = await stack.preview();
    expect(preview.output).toContain("delete original");
    const back = await stack.run(["up", "--yes", "--skip-preview"]);
    expect(back.exitCode).not.toBe(0);
    expect(back.output).toContain(
      `If a preview shows "delete original" for this network volume, a replacement has failed. Give this resource another logical name and adoptId: "${kept}": `,
    );
    expect(state(emulator).mounted).toEqual([kept]);

    // As the message advises.
    await stack.writeProgram(program("models-kept", { ...name, ...HERE, adoptId: kept }));
    await stack.up();
    expect(state(emulator)).toEqual({ volumes: [[kept, "EU-RO-1"]], mounted: [kept] });
    await stack.preview("--refresh", "--expect-no-changes");
    await stack.writeProgram(program("models-kept", { ...name, ...HERE }));
    await stack.preview("--refresh", "--expect-no-changes");
    await stack.destroy();
    expect(state(emulator)).toEqual({ volumes: [], mounted: [] });
  },
  240_000,
);
