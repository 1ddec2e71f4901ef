/**
 * The steps of pipeline.sh in your own program, with Pulumi's Automation API, for example in a
 * service that deploys.
 *
 *   npx ts-node automation.ts preview|up|drift|repair|destroy [stack]
 *
 * It exits with 7 if it finds drift, like pipeline.sh.
 */
import { ConcurrentUpdateError, LocalWorkspace, type OpMap, type Stack } from "@pulumi/pulumi/automation";

const DRIFT = 7;

const onOutput = (text: string) => process.stdout.write(text);

/** Returns whether an operation would change anything. */
const changesAnything = ({ same: _, ...others }: OpMap) => Object.values(others).some((count) => count > 0);

const steps: Record<string, (stack: Stack) => Promise<number>> = {
  async preview(stack) {
    const { changeSummary } = await stack.preview({ diff: true, onOutput });
    console.log(changesAnything(changeSummary) ? "A deployment would change something." : "Nothing would change.");
    return 0;
  },

  async up(stack) {
    // Fails before the first write if the program is wrong: up itself runs no preview.
    await stack.preview({ onOutput });
    const { outputs } = await stack.up({ onOutput });
    console.log(`Jobs go to ${outputs.queueUrl?.value}`);
    return 0;
  },

  /** Does not run the program, and changes neither the service nor the state. */
  async drift(stack) {
    const { changeSummary } = await stack.previewRefresh({ onOutput });
    return changesAnything(changeSummary) ? DRIFT : 0;
  },

  /** Restores the values of the program, after drift. */
  async repair(stack) {
    await stack.preview({ refresh: true, onOutput });
    await stack.up({ refresh: true, onOutput });
    return 0;
  },

  async destroy(stack) {
    await stack.destroy({ onOutput });
    return 0;
  },
};

async function main([name = "", stackName = "dev"]: readonly string[]): Promise<number> {
  const step = steps[name];
  if (!step) throw new Error(`there is no step "${name}": use ${Object.keys(steps).join(", ")}`);
  return step(await LocalWorkspace.createOrSelectStack({ stackName, workDir: __dirname }));
}

main(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: Error) => {
    const isLocked = error instanceof ConcurrentUpdateError;
    console.error(isLocked ? "Another run is changing this stack: try again when it has ended." : error.message);
    process.exitCode = 1;
  },
);
