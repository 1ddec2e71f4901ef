import { startEmulator } from "../../emulator";
import { codeBlocks } from "../docs/markdown";
import { createStack, type State } from "./harness";

const blocks = codeBlocks("docs/how-to/migrate-from-go-providers.md");
const program = blocks.find(({ language }) => language === "ts")?.text ?? "";
/** The arguments of each `pulumi` of the page, in order. */
const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) => [...text.matchAll(/^pulumi (.*)$/gm)])
  .map(([, words = ""]) => words.replaceAll("'", "").split(" "));

/** The endpoint in the stack of the other provider. */
function otherState(version: number): State {
  const urn = (type: string, name: string) => `urn:pulumi:dev::models::${type}::${name}`;
  const [stack, provider] = [urn("pulumi:pulumi:Stack", "models-dev"), urn("pulumi:providers:runpod", "default")];
  const endpoint = { name: "llama", gpuIds: "ADA_24,AMPERE_24", templateId: "template" };
  return {
    version,
    deployment: {
      resources: [
        { urn: stack, custom: false, type: "pulumi:pulumi:Stack" },
        { urn: provider, custom: true, type: "pulumi:providers:runpod", id: "provider-id" },
        {
          urn: urn("runpod:index:Endpoint", "llama"),
          custom: true,
          type: "runpod:index:Endpoint",
          id: "llama",
          inputs: endpoint,
          outputs: { ...endpoint, endpoint: { ...endpoint, id: "abc123" } },
          parent: stack,
          provider: `${provider}::provider-id`,
        },
      ],
    },
  };
}

test("the migration steps move an endpoint between the states without changing anything at the service", async () => {
  const endpoint = { id: "abc123", name: "llama", gpuIds: "ADA_24,AMPERE_24", templateId: "template" };
  await using emulator = await startEmulator({ profile: "contract", seed: { endpoints: [endpoint] } });
  const [old, own] = await Promise.all([
    createStack(),
    createStack({ typescript: true, program, env: { ...emulator.env, PULUMI_NODEJS_TRANSPILE_ONLY: "true" } }),
  ]);
  await old.writeFile("Pulumi.yaml", "name: models\nruntime: nodejs\n");
  await old.succeed(["stack", "init", "dev"]);
  await old.importState(otherState((await own.exportState()).version));

  // The first two export a state and import a file: see adoptFrom.test.ts.
  const [preview = [], forget = [], up = [], proof = []] = commands.slice(2);
  expect((await own.succeed(preview)).output).toContain('endpoint abc123 ("llama") is adopted');
  await old.succeed([...forget, "--yes"]);
  expect((await old.exportState()).deployment.resources?.map(({ type }) => type)).not.toContain(
    "runpod:index:Endpoint",
  );
  expect((await own.succeed([...up, "--yes", "--skip-preview"])).output).toContain(
    "adopted endpoint abc123; nothing changed",
  );
  await own.succeed(proof);
  expect(new Set(emulator.journal.operations())).toEqual(new Set(["myself"]));
});
