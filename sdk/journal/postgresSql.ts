/**
 * The statements that create the tables. Each statement can be repeated. There are four tables:
 * batches, processes with their leases, keys, and stored results.
 */
export const POSTGRES_SCHEMA = `CREATE SCHEMA IF NOT EXISTS serverless_gpu;
CREATE TABLE IF NOT EXISTS serverless_gpu.batches (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  batch text NOT NULL UNIQUE,
  endpoint_id text NOT NULL,
  key_version text NOT NULL,
  format integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS serverless_gpu.owners (
  owner text PRIMARY KEY,
  lease_until timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS serverless_gpu.keys (
  batch_id bigint NOT NULL REFERENCES serverless_gpu.batches (id) ON DELETE CASCADE,
  key text NOT NULL,
  hash text,
  state text NOT NULL,
  owner text NOT NULL,
  job_id text,
  submitted_at bigint,
  reason text,
  is_stored boolean,
  PRIMARY KEY (batch_id, key)
) WITH (fillfactor = 60);
CREATE TABLE IF NOT EXISTS serverless_gpu.results (
  batch_id bigint NOT NULL REFERENCES serverless_gpu.batches (id) ON DELETE CASCADE,
  key text NOT NULL,
  result text NOT NULL,
  PRIMARY KEY (batch_id, key)
);
`;

/** The version of the tables. Other versions are refused. */
export const POSTGRES_FORMAT = 1;

const COLUMNS = "key, hash, state, owner, job_id, submitted_at, reason, is_stored";

/** Parameters: batch, endpoint, key version. */
export const ADD_BATCH = `INSERT INTO serverless_gpu.batches (batch, endpoint_id, key_version) VALUES ($1, $2, $3)
ON CONFLICT (batch) DO NOTHING`;

/** Parameter: batch. */
export const READ_BATCH = "SELECT id, endpoint_id, key_version, format FROM serverless_gpu.batches WHERE batch = $1";

/** Starts the lease of owner $1 for $2 milliseconds, or renews it unless it has ended. */
const RENEW = `INSERT INTO serverless_gpu.owners AS o (owner, lease_until)
  VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
  ON CONFLICT (owner) DO UPDATE SET lease_until = EXCLUDED.lease_until WHERE o.lease_until > clock_timestamp()
  RETURNING owner`;

/**
 * Claims keys. If two processes compete for a key, the unique index decides. Parameters: owner,
 * lease, batch id, keys in order, their hashes, states to claim again. A row without a key means
 * that the lease is valid.
 */
export const CLAIM = `WITH me AS (${RENEW}),
claimed AS (
  INSERT INTO serverless_gpu.keys AS k (batch_id, key, hash, state, owner)
  SELECT $3, given.key, given.hash, 'claimed', me.owner FROM me, unnest($4::text[], $5::text[]) AS given (key, hash)
  ON CONFLICT (batch_id, key) DO UPDATE
  SET hash = EXCLUDED.hash, state = 'claimed', owner = EXCLUDED.owner,
    job_id = NULL, submitted_at = NULL, reason = NULL, is_stored = NULL
  WHERE k.state = 'released' OR (k.state = 'claimed' AND k.owner = EXCLUDED.owner) OR (k.state = ANY ($6::text[]) AND (
    k.state <> 'failed' OR (k.owner <> EXCLUDED.owner AND NOT EXISTS (
      SELECT FROM serverless_gpu.owners o WHERE o.owner = k.owner AND o.lease_until > clock_timestamp()
    ))))
  RETURNING ${COLUMNS}
)
SELECT ${COLUMNS} FROM claimed
UNION ALL SELECT NULL, NULL, NULL, owner, NULL, NULL, NULL, NULL FROM me`;

/**
 * Reads keys, and takes over those whose owner's lease has ended. Keys that another process is
 * already taking over are left to that process. Parameters: batch id, keys, owner. If a key is in
 * both `taken` and `keys`, the row from `taken` is newer.
 */
export const COLLECT = `WITH free AS (
  SELECT k.key AS free_key FROM serverless_gpu.keys k JOIN serverless_gpu.owners o ON o.owner = k.owner
  WHERE k.batch_id = $1 AND k.key = ANY ($2::text[]) AND k.state IN ('claimed', 'submitted', 'settled')
    AND k.owner <> $3 AND o.lease_until <= clock_timestamp()
  ORDER BY k.key FOR UPDATE OF k SKIP LOCKED
),
taken AS (
  UPDATE serverless_gpu.keys k
  SET state = CASE k.state WHEN 'claimed' THEN 'uncertain' ELSE k.state END,
    owner = CASE k.state WHEN 'claimed' THEN k.owner ELSE $3 END
  FROM free WHERE k.batch_id = $1 AND k.key = free.free_key
  RETURNING ${COLUMNS}
)
SELECT ${COLUMNS} FROM taken
UNION ALL
SELECT ${COLUMNS} FROM serverless_gpu.keys
WHERE batch_id = $1 AND key = ANY ($2::text[]) AND NOT key IN (SELECT key FROM taken)`;

/**
 * Records changes as `applied` specifies. Parameters: owner, lease, batch id, and a list for each
 * field of the changes. Returns the owner if its lease is valid. The same statement renews the
 * lease; a lease of 0 ends it.
 */
export const RECORD = `WITH me AS (${RENEW}),
given AS (
  SELECT * FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::text[])
    AS given (key, state, owner, job_id, submitted_at, reason, result)
),
locked AS (
  SELECT k.key FROM serverless_gpu.keys k JOIN given USING (key) WHERE k.batch_id = $3
  ORDER BY k.key FOR UPDATE OF k
),
changed AS (
  UPDATE serverless_gpu.keys k
  SET state = given.state,
    owner = CASE WHEN given.state IN ('released', 'uncertain', 'expired') THEN k.owner ELSE given.owner END,
    job_id = COALESCE(given.job_id, k.job_id),
    submitted_at = CASE WHEN k.job_id IS DISTINCT FROM given.job_id THEN given.submitted_at ELSE k.submitted_at END,
    reason = given.reason,
    is_stored = k.is_stored OR given.result IS NOT NULL
  FROM given JOIN locked USING (key)
  WHERE k.batch_id = $3 AND k.key = given.key AND CASE
    WHEN given.state = 'released' THEN k.job_id IS NULL AND k.owner = given.owner AND k.state IN ('claimed', 'uncertain')
    WHEN given.state = 'uncertain' THEN k.job_id IS NULL AND k.owner = given.owner AND k.state = 'claimed'
    WHEN given.state = 'expired' THEN k.job_id = given.job_id AND k.state IN ('submitted', 'settled')
    WHEN k.job_id IS NULL THEN true
    WHEN k.job_id <> given.job_id THEN given.state = 'submitted' AND k.state = 'submitted' AND k.submitted_at IS NULL
    ELSE k.job_id = given.job_id AND k.state IN ('submitted', 'settled')
      AND (given.state IN ('delivered', 'failed') OR (given.state = 'settled' AND k.state = 'submitted'))
  END
  RETURNING k.key, given.result
),
stored AS (
  INSERT INTO serverless_gpu.results AS r (batch_id, key, result)
  SELECT $3, changed.key, changed.result FROM changed WHERE changed.result IS NOT NULL
  ON CONFLICT (batch_id, key) DO UPDATE SET result = EXCLUDED.result
)
SELECT owner FROM me`;

/** Parameter: batch id. */
export const READ_UNDER_WAY = `SELECT ${COLUMNS} FROM serverless_gpu.keys
WHERE batch_id = $1 AND state IN ('submitted', 'settled')`;

/** Parameters: batch id, job ids. */
export const READ_JOBS = `SELECT ${COLUMNS} FROM serverless_gpu.keys WHERE batch_id = $1 AND job_id = ANY ($2::text[])`;

/** Parameters: batch id, key. */
export const READ_RESULT = "SELECT result FROM serverless_gpu.results WHERE batch_id = $1 AND key = $2";

/** Returns the number of inputs of batch $1 that have no final state. */
export const COUNT_OPEN = `SELECT b.id, count(k.key) AS open FROM serverless_gpu.batches b
LEFT JOIN serverless_gpu.keys k ON k.batch_id = b.id AND k.state NOT IN ('released', 'delivered', 'failed', 'expired')
WHERE b.batch = $1 GROUP BY b.id`;

/** Deletes the rows of batch $1, and the owners whose keys are gone. */
export const FORGET = `WITH gone AS (DELETE FROM serverless_gpu.batches WHERE id = $1 RETURNING id)
DELETE FROM serverless_gpu.owners o WHERE o.lease_until <= clock_timestamp()
  AND NOT EXISTS (SELECT FROM serverless_gpu.keys k WHERE k.owner = o.owner AND k.batch_id <> $1)`;
