const latest = new Map<string, Promise<unknown>>();

/**
 * Runs work after all earlier work with the same key has ended. If two resources have the same
 * name, the second resource then finds the record of the first.
 */
export async function oneAtATime<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = latest.get(key) ?? Promise.resolve();
  const current = before.then(work, work);
  latest.set(key, current);
  try {
    return await current;
  } finally {
    if (latest.get(key) === current) latest.delete(key);
  }
}
