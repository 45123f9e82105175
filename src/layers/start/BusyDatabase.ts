import { Cause, Clock, Effect } from "effect"

interface Reported {
  readonly code?: unknown
  readonly cause?: unknown
}

const isReported = (value: unknown): value is Reported => typeof value === "object" && value !== null

/** What PostgreSQL says that will be free or up in a moment. */
const passing: Readonly<Record<string, string>> = {
  "53300": "has no free connection",
  "57P03": "is starting up or shutting down"
}

/** What an error says of a database that is busy; undefined for every other error. */
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

/** Seconds that a start waits for a database that is busy. */
const longest = 60

/** When a start began to wait: all that is tried until it succeeds shares one limit and one line in the log. */
let since: number | undefined

/** What the database must become before a start can go on; undefined where waiting is of no use, or took long enough. */
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

/** Repeats what fails because the database is busy; a part of a start, whose limit goes on when it succeeds. */
export const whileBusy = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchCause(
    work,
    (cause) =>
      Effect.flatMap(
        worthWaiting(cause),
        (words) => words === undefined ? Effect.failCause(cause) : Effect.andThen(wait(words), whileBusy(work))
      )
  )

/** Repeats a start that fails because the database is busy, as after a restart of everything at once. */
export const waitingForDatabase = <A, E, R>(start: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.ensuring(
    whileBusy(start),
    Effect.sync(() => {
      since = undefined
    })
  )

/** Does something about a failure that `waitingForDatabase` will not repeat. */
export const onLasting =
  <E, R>(tell: (cause: Cause.Cause<E>) => Effect.Effect<void, never, R>) => (cause: Cause.Cause<E>) =>
    Effect.flatMap(worthWaiting(cause), (words) => words === undefined ? tell(cause) : Effect.void)
