import type { ForecastFlags } from "../forecastFlags";
import { type Settings, settingsOfProgram, settingsOfStack } from "./endpoints";

/** Settings to forecast, and their title in the output. */
export interface Named {
  readonly title: string;
  readonly settings: Settings;
  /** `true` if its image crashes or cannot be pulled, so that no worker takes a job. */
  readonly failsToStart?: boolean;
}

/**
 * Returns the settings of the stack, the program, or the options alone. Options override the
 * others.
 */
export async function namedSettings(flags: ForecastFlags): Promise<Named[]> {
  const named: Named[] = [];
  const { stack } = flags;
  if (stack !== undefined) {
    const settings = await settingsOfStack(stack, flags.endpoint);
    if (settings) named.push({ title: flags.program ? "Before" : "Stack", settings });
    else if (!flags.program)
      throw new Error("the stack has no ServerlessEndpoint: use --program, or give the settings with --set");
  }
  if (flags.program)
    named.push({
      title: named.length > 0 ? "After" : "Program",
      settings: await settingsOfProgram(stack, flags.endpoint),
    });
  if (named.length === 0) named.push({ title: "Settings", settings: DEFAULTS });
  // In a comparison, options don't apply to the stack's current settings.
  return named.map(({ title, settings }) => {
    const isBefore = title === "Before";
    const checked = isBefore ? settings : { ...settings, ...flags.set };
    if (checked.workersMin > checked.workersMax)
      throw new Error(`workersMin (${checked.workersMin}) is above workersMax (${checked.workersMax})`);
    if (checked.workersMax === 0) throw new Error("workersMax is 0, so no job would ever run");
    return { title, settings: checked };
  });
}

const DEFAULTS: Settings = {
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  workersMin: 0,
  workersMax: 3,
  idleTimeout: 10,
  gpuIds: "AMPERE_24",
  gpuCount: 1,
  instanceIds: "",
  flashBoot: false,
};
