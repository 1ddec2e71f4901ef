import type { Profile } from "../model/fidelity";
import type { Account } from "./account";
import type { Faults } from "./faults";
import type { Journal } from "./journal";

export interface StatusPageInput {
  readonly profile: Profile;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly account: Account;
  readonly journal: Journal;
  readonly faults: Faults;
}

const SHOWN_REQUESTS = 50;

/** Returns a web page with the endpoints, the names of other things, the fault rules and the latest requests. */
export function statusPage({ profile, now, account, journal, faults }: StatusPageInput): string {
  const endpoints = account.endpoints.all().map(({ record, runtime }) => {
    const { jobs, workers } = runtime.health();
    const states = `${workers.running} running, ${workers.idle} idle, ${workers.initializing} starting`;
    const range = `${record.workersMin}–${record.workersMax}`;
    return [
      record.id,
      record.name,
      record.gpuIds,
      range,
      states,
      jobs.inQueue,
      jobs.inProgress,
      jobs.completed,
      jobs.failed,
    ];
  });
  const requests = journal
    .requests()
    .slice(-SHOWN_REQUESTS)
    .reverse()
    .map(({ number, at, interface: name, operation, endpointId, status, outcome, error, fault }) => {
      return [number, new Date(at).toISOString(), name, operation, endpointId, status, outcome, error, fault];
    });
  const rules = faults.list().map(({ id, name, match, applied, times }) => {
    return [id, name, match && JSON.stringify(match), `${applied}${times === undefined ? "" : ` of ${times}`}`];
  });
  const { templates, volumes, registryAuths } = account.kinds;
  const named = Object.entries({ templates, volumes, registryAuths }).flatMap(([kind, { control }]) =>
    control.list().map(({ id, name }) => [kind, id, name]),
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Serverless GPU emulator</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #222 }
table { border-collapse: collapse } td, th { padding: .2rem .8rem; text-align: left; border-bottom: 1px solid #ddd }
</style>
</head>
<body>
<h1>Serverless GPU emulator</h1>
<p>Profile ${profile}, ${new Date(now).toISOString()}, ${account.pods.list().length} added pods.</p>
${section("Endpoints", ["Id", "Name", "GPU", "Workers", "Now", "In queue", "In progress", "Completed", "Failed"], endpoints)}
${section("Templates, volumes, registry credentials", ["Kind", "Id", "Name"], named)}
${section("Fault rules", ["Id", "Name", "Match", "Applied"], rules)}
${section("Latest requests", ["No.", "Time", "Interface", "Operation", "Endpoint", "Status", "Outcome", "Error", "Fault"], requests)}
</body>
</html>
`;
}

type Cell = string | number | undefined;

function section(title: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const head = heads.map((text) => `<th>${text}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`).join("\n");
  return `<h2>${title}</h2>\n${rows.length === 0 ? "<p>None.</p>" : `<table><tr>${head}</tr>\n${body}</table>`}`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(cell: Cell): string {
  return String(cell ?? "").replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
