import { Cause, Clock, Effect } from "effect"

interface Reported {
  readonly code?: unknown
  readonly cause?: unknown
}

const isReported = (value: unknown): value is Reported => typeof value === "object" && value !== null

const passing: Readonly<Record<string, string>> = {
  "53300": "has no free connection",
  "57P03": "is starting up or shutting down"
}

const busyness = (error: unknown): string | undefined => {
  for (let recorded = error; isReported(recorded); recorded = recorded.cause) {
    if (typeof recorded.code === "string" && recorded.code in passing) return passing[recorded.code]
  }
  return undefined
}

const busynessOf = (cause: Cause.Cause<unknown>): string | undefined =>
  cause.reasons.map((reason) =>
    Cause.isFailReason(reason)
      ? busyness(reason.error)
      : Cause.isDieReason(reason)
      ? busyness(reason.defect)
      : undefined
  ).find((words) => words !== undefined)

/** Seconds. */
const longest = 60

/** One limit and one log line for the whole start. */
let since: number | undefined

const worthWaiting = (cause: Cause.Cause<unknown>) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const words = busynessOf(cause)
    return words !== undefined && (since === undefined || now - since < longest * 1_000) ? words : undefined
  })

const wait = Effect.fnUntraced(function*(words: string) {
  if (since === undefined) {
    since = yield* Clock.currentTimeMillis
    yield* Effect.logInfo(`the database ${words}; waiting for it, ${longest} s at most`)
  }
  yield* Effect.sleep("1 second")
})

export const whileBusy = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchCause(
    work,
    (cause) =>
      Effect.flatMap(
        worthWaiting(cause),
        (words) => words === undefined ? Effect.failCause(cause) : Effect.andThen(wait(words), whileBusy(work))
      )
  )

/** Repeats a start while the database is busy, as after a restart of everything. */
export const waitingForDatabase = <A, E, R>(start: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.ensuring(
    whileBusy(start),
    Effect.sync(() => {
      since = undefined
    })
  )

export const onLasting =
  <E, R>(tell: (cause: Cause.Cause<E>) => Effect.Effect<void, never, R>) => (cause: Cause.Cause<E>) =>
    Effect.flatMap(worthWaiting(cause), (words) => words === undefined ? tell(cause) : Effect.void)
