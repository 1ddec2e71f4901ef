const latest = new Map<string, Promise<unknown>>();

/**
 * Works that share a key follow each other: of two resources of one name that are created at once, the second one finds
 * what the first one has made.
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
