/** A job that a CI runs: its commands in order. */
export interface Job {
  readonly name: string;
  readonly steps: readonly {
    readonly command: string;
    readonly env: Readonly<Record<string, string>>;
    /** `true` if the step also runs after a failure. */
    readonly always: boolean;
    /**
     * The folder that it keeps as an artifact, and the artifact's name. Such a step has no command.
     */
    readonly keeps?: { readonly name: string; readonly folder: string };
  }[];
}

export interface GitlabJob {
  readonly rules: readonly { readonly if: string; readonly when?: "manual"; readonly allow_failure?: boolean }[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly environment?: string | { readonly name: string; readonly action?: string; readonly on_stop?: string };
  readonly resource_group?: string;
  readonly interruptible: boolean;
  readonly timeout: string;
  readonly script: readonly string[];
  readonly after_script?: readonly string[];
  readonly artifacts?: { readonly paths: readonly string[] };
}

export interface GitlabPipeline {
  readonly workflow: Pick<GitlabJob, "rules">;
  readonly variables: Readonly<Record<string, string>>;
  readonly default: { readonly image: { readonly name: string }; readonly before_script: readonly string[] };
  readonly [job: string]: unknown;
}

type Variables = Readonly<Record<string, string>>;

const NO_JOBS = ["workflow", "variables", "default"];

export function gitlabJobs(pipeline: GitlabPipeline): [string, GitlabJob][] {
  return Object.entries(pipeline).filter(([name]) => !NO_JOBS.includes(name)) as [string, GitlabJob][];
}

/**
 * The jobs of the pipeline that these variables start: by itself, or, with `manual`, when someone
 * presses the button.
 */
export function jobsOfPipeline(pipeline: GitlabPipeline, variables: Variables, { manual = false } = {}): Job[] {
  if (!pipeline.workflow.rules.some((rule) => holds(rule.if, variables))) return [];
  return gitlabJobs(pipeline)
    .filter(([, { rules }]) => {
      const rule = rules.find((each) => holds(each.if, variables));
      return rule !== undefined && (rule.when === "manual") === manual;
    })
    .map(([name, job]) => {
      const env = expand({ ...variables, ...pipeline.variables, ...job.variables }, variables);
      const steps = (commands: readonly string[], always: boolean) =>
        commands.map((command) => ({ command, env, always }));
      return {
        name,
        steps: [
          ...steps([...pipeline.default.before_script, ...job.script], false),
          ...(job.artifacts?.paths ?? []).map((folder) => ({
            command: "",
            env,
            always: false,
            keeps: { name, folder },
          })),
          ...steps(job.after_script ?? [], true),
        ],
      };
    });
}

const expand = (values: Variables, variables: Variables) =>
  Object.fromEntries(
    Object.entries(values).map(([name, text]) => [
      name,
      text.replace(/\$(\w+)/g, (_, variable) => variables[variable] ?? ""),
    ]),
  );

/** The rules' expressions, as far as the example uses them: comparisons joined by `&&`. */
function holds(rule: string, variables: Variables): boolean {
  return rule.split("&&").every((comparison) => {
    const [, left = "", operator, right = ""] = /^\s*(\S+) (==|!=) (\S+)\s*$/.exec(comparison) ?? [];
    if (!operator) throw new Error(`the rule "${comparison}" is not understood`);
    const value = (side: string) => (side.startsWith("$") ? variables[side.slice(1)] : side.replaceAll('"', ""));
    return (value(left) === value(right)) === (operator === "==");
  });
}
