/** SQLSTATEs of a server that is stopping, starting or out of resources; the driver does not call them retryable. */
const away = /"code":"(57P0[1-3]|53\d{3})"/

interface Reported {
  readonly isRetryable?: boolean
  readonly cause?: unknown
  readonly _tag?: string
  readonly reason?: { readonly _tag: string; readonly constraint?: string }
}

/**
 * Whether a defect means that the database is temporarily unavailable, for a statement or for a message of the cluster:
 * worth a retry (503), unlike a bug (500).
 */
export const isTransient = (defect: unknown): boolean => {
  if (typeof defect !== "object" || defect === null) return false
  const error = defect as Reported
  if (error._tag === "SqlError") return error.isRetryable === true || away.test(JSON.stringify(defect))
  return error._tag === "TimeoutError" || (error._tag === "PersistenceError" && isTransient(error.cause))
}

/** Timeouts may be temporary or permanent: the statement may wait for a lock of the same caller. */
const tookTooLong = ["LockTimeoutError", "StatementTimeoutError"]

/**
 * Whether a statement failed because the database was unavailable, or as the victim of a deadlock. Narrower than
 * `isTransient`: work of plugins that merely takes too long would do so again, and must not be retried forever.
 */
export const wasCutOff = (defect: unknown): boolean =>
  isTransient(defect) && (defect as Reported)._tag === "SqlError" &&
  !tookTooLong.includes((defect as Reported).reason?._tag ?? "")

/**
 * Whether the client should retry a request that died of this (503): the database is unavailable, or the change
 * conflicted with an earlier attempt under the same `Idempotency-Key` that was believed lost. The retry gets the result
 * of that attempt.
 */
export const isWorthRepeating = (defect: unknown): boolean =>
  isTransient(defect) || (defect as Reported | undefined)?.reason?.constraint === "idempotency_records_pkey"
