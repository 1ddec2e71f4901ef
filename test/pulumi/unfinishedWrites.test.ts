import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { crash, type Moment, unlock } from "../faults/crash";
import { FORMS, type Form } from "../faults/rules/stack";
import { IS_EVERYWHERE } from "../support/everywhere";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

const UPS = [["up"], ["up", "--refresh"], ["up", "--skip-preview"]];

/** Kills the engine: both forms then leave a state without the write. */
const killed = (stack: PulumiStack, emulator: Emulator, operation: string) => {
  const moment: Moment = { step: operation, operation, when: "after" };
  return crash(stack, emulator, moment, "engine", "up");
};

async function newStack(form: Form, emulator: Emulator, source: string) {
  const env = {
    ...emulator.env,
    SERVERLESS_GPU_API: "v2",
    SERVERLESS_GPU_SERVICE: "runpod",
    XDG_CACHE_HOME: mkdtempSync(path.join(tmpdir(), "unfinished-")),
  };
  const text = (code: string) =>
    form === "plugin"
      ? withPlugin(`const gpu = plugin;\n${code}`)
      : `const gpu = require("pulumi-serverless-gpu");\n${code}`;
  const stack =
    form === "plugin"
      ? await createPluginStack(`const gpu = plugin;\n${source}`, env)
      : await createStack({ program: text(source), env });
  return { stack, write: (code: string) => stack.writeProgram(text(code)) };
}

const endpoint = (args: object) =>
  `new gpu.ServerlessEndpoint("llama", ${JSON.stringify({ gpuIds: ["ADA_24"], ...args })});`;
const secret = (value: string) => `new gpu.Secret("token", { name: "token", value: "${value}" });`;

/** `npm run test:everywhere` plays all. Other runs play each form and each command. */
const RUNS = FORMS.flatMap((form, column) =>
  UPS.filter((_, row) => IS_EVERYWHERE || row % 2 === column).map((args) => [form, args.join(" "), args] as const),
);

test.each(RUNS)(
  "after a kill -9 during writes and a reverted program, the next %s %s restores the settings in service, and the run after it changes nothing",
  async (form, _name, args) => {
    await using emulator = await startEmulator({ profile: "observed", drainMs: 0 });
    emulator.templates.create({ id: "shared", name: "shared", imageName: "shared:1", isServerless: true });
    const { stack, write } = await newStack(
      form,
      emulator,
      endpoint({ templateId: "shared" }) + secret("value-of-day-1"),
    );
    await stack.up();
    const [{ id = "" } = {}] = emulator.secrets.list();
    const image = () => {
      const [{ container, templateId } = { container: undefined, templateId: "" }] = emulator.endpoints.list();
      return container?.imageName ?? emulator.templates.get(String(templateId))?.imageName;
    };

    // One write after the other, because each kill ends the run.
    await write(endpoint({ imageName: "me/wrong:2" }) + secret("value-of-day-1"));
    await killed(stack, emulator, "updateEndpoint");
    await unlock(stack);
    expect(image()).toBe("me/wrong:2");
    await write(endpoint({ templateId: "shared" }) + secret("value-of-day-1"));
    await stack.run([...args, "--yes"]);
    expect(image()).toBe("shared:1");

    await write(endpoint({ templateId: "shared" }) + secret("value-of-day-2"));
    await killed(stack, emulator, "updateSecret");
    await unlock(stack);
    expect(emulator.secrets.matches(id, "value-of-day-2")).toBe(true);
    await write(endpoint({ templateId: "shared" }) + secret("value-of-day-1"));
    await stack.run([...args, "--yes"]);
    expect(emulator.secrets.matches(id, "value-of-day-1")).toBe(true);
    await stack.preview("--expect-no-changes");
  },
  300_000,
);
