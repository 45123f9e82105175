import { Cause, Logger } from "effect"

/** What the cluster says when the database answers late or not at all: each is handled, and logged again if it lasts. */
const expected: ReadonlyMap<unknown, string> = new Map([
  [
    "Shard lock storage is unhealthy",
    "The shards of this process are in doubt; they are acquired again once the database answers"
  ],
  ["Shard lock storage is still unhealthy", "The shards of this process are still in doubt"],
  ["Shard lock storage has recovered", "The database answers; the shards of this process are acquired again"],
  ["Could not acquire/release shards", "The shards of this process could not be taken or given back; trying again"],
  ["Could not release shards, retrying", "The shards of this process could not be given back; trying again"],
  ["No healthy runners available", "No runner was heard of for a while; this one goes on"]
])

/** The reason at the bottom of an error, without where in the program it was made. */
const reasonOf = (error: unknown): string => {
  let deepest = error
  while (deepest instanceof Error && deepest.cause !== undefined) deepest = deepest.cause
  return deepest instanceof Error ? deepest.message : String(deepest)
}

/** Says in one line what the cluster says with a stack trace, where the cause is a slow machine or an absent database. */
export const calmly = <Output>(logger: Logger.Logger<unknown, Output>): Logger.Logger<unknown, Output> =>
  Logger.make((options) => {
    const words = Array.isArray(options.message) ? options.message : [options.message]
    const recorded = expected.get(words[0])
    if (recorded === undefined) return logger.log(options)
    const { cause } = options
    const line = cause.reasons.length === 0 ? recorded : `${recorded}: ${reasonOf(Cause.squash(cause))}`
    return logger.log({ ...options, message: line, cause: Cause.empty })
  })
