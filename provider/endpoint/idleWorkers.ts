/** Returns a warning that workers are billed even while idle. `workers` is `undefined` if the number is secret. */
export function idleWorkersWarning(workers: number | undefined): string {
  if (workers === undefined) return "workersMin is above 0: idle workers are billed, too";
  const many = workers === 1 ? "1 worker is" : `${workers} workers are`;
  return `workersMin is ${workers}: ${many} billed even while idle`;
}
