/** SQLSTATEs of a stopping, starting or exhausted server; the driver does not call them retryable. */
const away = /"code":"(57P0[1-3]|53\d{3})"/

interface Reported {
  readonly isRetryable?: boolean
  readonly cause?: unknown
  readonly _tag?: string
  readonly reason?: { readonly _tag: string; readonly constraint?: string }
}

/** True when the database is temporarily unavailable: worth a retry (503), unlike a bug (500). */
export const isTransient = (defect: unknown): boolean => {
  if (typeof defect !== "object" || defect === null) return false
  const error = defect as Reported
  if (error._tag === "SqlError") return error.isRetryable === true || away.test(JSON.stringify(defect))
  return error._tag === "TimeoutError" || (error._tag === "PersistenceError" && isTransient(error.cause))
}

/** The statement may wait for a lock of the same caller. */
const tookTooLong = ["LockTimeoutError", "StatementTimeoutError"]

/**
 * True when the database was unavailable or chose a deadlock victim. Narrower than `isTransient`: a plugin's slow work
 * must not be retried forever.
 */
export const wasCutOff = (defect: unknown): boolean =>
  isTransient(defect) && (defect as Reported)._tag === "SqlError" &&
  !tookTooLong.includes((defect as Reported).reason?._tag ?? "")

/** True when a retry of the request may succeed (503), also after a conflict with an earlier attempt under its key. */
export const isWorthRepeating = (defect: unknown): boolean =>
  isTransient(defect) || (defect as Reported | undefined)?.reason?.constraint === "idempotency_records_pkey"
