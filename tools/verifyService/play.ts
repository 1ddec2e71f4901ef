import type { FidelityId } from "../../emulator/model/fidelity";
import { verifyScenario } from "./playScenario";
import { catalog } from "./scenarios/catalog";
import * as graphql from "./scenarios/graphql";
import { clearedFields, keptFields } from "./scenarios/keptFields";
import { loadBalancerRefusals } from "./scenarios/loadBalancer";
import * as queue from "./scenarios/queue";
import { reads } from "./scenarios/reads";
import { restV2Writes } from "./scenarios/restV2Writes";
import * as save from "./scenarios/saveEndpoint";
import type { Scenario } from "./scenarios/scenario";
import { tags } from "./scenarios/tags";
import type { TestedService } from "./testedService";

/**
 * Returns the scenarios in order. Scenarios with waiting jobs run while the endpoint cannot start a
 * worker. `oneJob` removes those jobs before it starts.
 */
export function scenariosFor(runJobs: boolean): readonly Scenario[] {
  return [
    graphql.graphqlKeys,
    graphql.graphqlForms,
    graphql.account,
    reads,
    catalog,
    graphql.unknownDeletion,
    save.savedFields,
    save.flashBoot,
    save.refusedSaves,
    keptFields,
    clearedFields,
    queue.rest,
    restV2Writes,
    queue.queueErrors,
    queue.waitingJobs,
    queue.purge,
    queue.timeToLive,
    loadBalancerRefusals,
    tags,
    runJobs ? queue.oneJob : graphql.ownDeletion,
  ];
}

/** Why some rows were not tested, and why the run ended early. */
export interface Unplayed {
  readonly rows: ReadonlyMap<FidelityId, string>;
  readonly stopped: string | undefined;
}

/**
 * Plays the scenarios against the service and the emulator at the same time. If a scenario fails,
 * its remaining rows are skipped and the next scenario runs.
 */
export async function verifyAll(
  service: TestedService,
  emulator: TestedService,
  scenarios: readonly Scenario[],
  { signal, onScenario }: { readonly signal: AbortSignal; onScenario(name: string): void },
): Promise<Unplayed> {
  const rows = new Map<FidelityId, string>();
  for (const scenario of scenarios) {
    if (signal.aborted) break;
    onScenario(scenario.name);
    const [played, expected] = await Promise.allSettled([
      verifyScenario(service, scenario),
      verifyScenario(emulator, scenario),
    ]);
    if (signal.aborted) break;
    if (expected.status === "rejected") throw expected.reason;
    if (played.status === "fulfilled") continue;
    for (const row of emulator.findings.keys()) {
      if (!service.findings.has(row) && !rows.has(row)) rows.set(row, failureOf(played.reason));
    }
  }
  return { rows, stopped: signal.aborted ? failureOf(signal.reason) : undefined };
}

export function failureOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
