/** Maximum age of the list that the resources of one run share, in milliseconds. */
export const LIST_MAX_AGE_MS = 60_000;
