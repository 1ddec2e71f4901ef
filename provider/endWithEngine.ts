const LOOK_EVERY_MS = 1_000;

let isWatching = false;

/**
 * Ends this process when the engine that started it was killed. Pulumi leaves it running for ever, and a create that it
 * had begun would go on behind the back of the next run.
 */
export function endWithEngine(): void {
  if (isWatching) return;
  isWatching = true;
  const engine = process.ppid;
  const look = () => {
    // An orphan gets another parent (not on Windows, where it goes on).
    if (process.ppid !== engine) process.exit(1);
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}
