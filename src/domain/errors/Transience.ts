/** SQLSTATEs of a server that is stopping, starting or out of resources; the driver does not call them retryable. */
const away = /"code":"(57P0[1-3]|53\d{3})"/

interface Reported {
  readonly isRetryable?: boolean
  readonly cause?: unknown
  readonly _tag?: string
  readonly reason?: { readonly _tag: string; readonly constraint?: string }
}

/**
 * Whether a defect says that the database is away or gave up for a moment, be it under a statement or under a message
 * of the cluster: worth another try (503), unlike a mistake of ours (500).
 */
export const isTransient = (defect: unknown): boolean => {
  if (typeof defect !== "object" || defect === null) return false
  const error = defect as Reported
  if (error._tag === "SqlError") return error.isRetryable === true || away.test(JSON.stringify(defect))
  return error._tag === "TimeoutError" || (error._tag === "PersistenceError" && isTransient(error.cause))
}

/** Why a statement may have failed for a moment and yet fail each time: what it waits for may be its own caller's. */
const tookTooLong = ["LockTimeoutError", "StatementTimeoutError"]

/**
 * Whether a statement was cut off by a database that is away, or chosen as the victim of a deadlock. Narrower than
 * `isTransient`: work of strangers that only takes too long would do so again, and must not be repeated without an end.
 */
export const wasCutOff = (defect: unknown): boolean =>
  isTransient(defect) && (defect as Reported)._tag === "SqlError" &&
  !tookTooLong.includes((defect as Reported).reason?._tag ?? "")

/**
 * Whether a request that died of this should be sent again (503): the database is away, or the change met the change of
 * an earlier try under the same `Idempotency-Key` that was believed lost. The next try is told what became of it.
 */
export const isWorthRepeating = (defect: unknown): boolean =>
  isTransient(defect) || (defect as Reported | undefined)?.reason?.constraint === "idempotency_records_pkey"
