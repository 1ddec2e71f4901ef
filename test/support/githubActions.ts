import { runInNewContext } from "node:vm";
import type { Job } from "./gitlabCi";

export interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, WorkflowJob>>;
}

export interface WorkflowJob {
  readonly if: string;
  readonly environment?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly "timeout-minutes": number;
  readonly concurrency: { readonly group: string; readonly "cancel-in-progress": boolean; readonly queue?: "max" };
  readonly steps: readonly {
    readonly uses?: string;
    readonly with?: Readonly<Record<string, string>>;
    readonly run?: string;
    readonly if?: string;
    readonly env?: Readonly<Record<string, string>>;
  }[];
}

/** The contexts of expressions: `github`, `secrets`, `vars`. */
export type Contexts = Readonly<Record<"github" | "secrets" | "vars", object>>;

/** The jobs that an event starts, with their commands and the environment of each. */
export function jobsOfWorkflow({ env, jobs }: Workflow, contexts: Contexts): Job[] {
  return Object.entries(jobs)
    .filter(([, job]) => evaluate(job.if, contexts))
    .map(([name, { steps }]) => ({
      name,
      steps: steps
        .filter(({ run, uses }) => run !== undefined || uses?.startsWith("actions/upload-artifact@"))
        .map((step) => ({
          command: step.run ?? "",
          env: interpolate({ ...env, ...step.env }, contexts),
          always: step.if !== undefined && evaluate(step.if, contexts) === true,
          ...(step.uses && { keeps: uploaded(interpolate(step.with ?? {}, contexts)) }),
        })),
    }));
}

const uploaded = ({ name = "artifact", path = "" }: Readonly<Record<string, string>>) => ({ name, folder: path });

/** The group of a job's concurrency, for an event. */
export const groupOf = ({ concurrency }: WorkflowJob, contexts: Contexts) =>
  interpolate({ group: concurrency.group }, contexts).group;

function interpolate(values: Readonly<Record<string, string>>, contexts: Contexts): Record<string, string> {
  const replaced = (text: string) =>
    String(text).replace(/\$\{\{(.*?)\}\}/g, (_, expression: string) => {
      const value = evaluate(expression, contexts);
      if (value === undefined) throw new Error(`${expression.trim()} has no value`);
      return String(value);
    });
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, replaced(text)]));
}

/** The GitHub expressions in the example are also valid JavaScript, except for `.*.`. */
function evaluate(expression: string, contexts: Contexts): unknown {
  const script = expression
    .replace(/^\s*\$\{\{(.*)\}\}\s*$/s, "$1")
    .replace(/([\w.]+)\.\*\.(\w+)/g, "$1.map((each) => each.$2)");
  const contains = (list: unknown[], item: unknown) => list.includes(item);
  return runInNewContext(`(${script})`, { ...contexts, contains, cancelled: () => false });
}
