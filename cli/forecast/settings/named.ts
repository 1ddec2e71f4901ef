import type { ForecastFlags } from "../forecastFlags";
import { type Settings, settingsOf, settingsOfStack } from "./endpoints";
import { withSchedule, withSetting } from "./schedule";

/** Settings to forecast, and their title in the output. */
export interface Named {
  readonly title: string;
  readonly settings: Settings;
  /** `true` if its image crashes or cannot be pulled, so that no worker takes a job. */
  readonly failsToStart?: boolean;
}

/** Returns the settings of the stack, or the defaults, with the options that override them. */
export async function namedSettings({ stack, endpoint, set = {} }: ForecastFlags): Promise<Named[]> {
  const ofStack = stack === undefined ? undefined : await settingsOfStack(stack, endpoint);
  if (stack !== undefined && !ofStack)
    throw new Error("the stack has no ServerlessEndpoint: give the settings with --set");
  const settings = withSchedule(Object.entries(set).reduce(withSetting, ofStack ?? defaults()), set);
  if (settings.workersMin > settings.workersMax)
    throw new Error(`workersMin (${settings.workersMin}) is above workersMax (${settings.workersMax})`);
  if (settings.workersMax === 0) throw new Error("workersMax is 0, so no job would ever run");
  return [{ title: ofStack ? "Stack" : "Settings", settings }];
}

/** Returns the settings of an endpoint that sets only its GPU pool. */
const defaults = () => settingsOf({ urn: "", values: { gpuIds: "AMPERE_24" } });
