import { Cause, DateTime, Effect } from "effect"
import { CurrentActor, systemActor } from "../../../domain/platform/access/Actor.ts"
import type { Task } from "../../../domain/platform/tasks/Task.ts"
import type { Failure } from "../events/EventHandler.ts"
import type { PluginCall } from "../PluginCall.ts"
import type { PluginContext } from "../PluginContext.ts"
import { defineTask, type PluginTask } from "../PluginTask.ts"
import { lockDue, type Place, placesAfter } from "../tables/DueRowsRepo.ts"
import type { RowOf, Table } from "../tables/Table.ts"
import type { Where } from "../tables/TableWhereRepo.ts"

/** What is due, and what is done about it. */
export interface DueOptions<T, Due extends Where<T> = Where<T>, R = never>
  extends Pick<Task, "concurrency" | "queue" | "retries" | "timeLimitMs">
{
  /** `<plugin>/<action>`. */
  readonly slug: string
  /** A cron expression, as of `defineTask`. */
  readonly schedule: string
  readonly of: T
  /** Which rows are due at this time. Give the table an index for it: each run reads all of them. */
  readonly where: (now: Date) => Due
  /**
   * Works off one row, which is locked, in a transaction that ends with it, as the service itself in the row's
   * organization. It has to change the row so that it is no longer due. Nothing outside of the database belongs here: a
   * transaction that sends nothing for five seconds is rolled back.
   */
  readonly each: (row: RowOf<T>, call: PluginCall) => Effect.Effect<unknown, Failure, R | CurrentActor>
}

/** What a run did; the output of its job. */
export interface DueCounts {
  readonly done: number
  /** They are due again in the next run; the log has the reasons. */
  readonly failed: number
  /** Another run had them, or they were no longer due. */
  readonly skipped: number
}

const pageSize = 500
const firstId = "00000000-0000-0000-0000-000000000000"

/**
 * A task that works off the rows that are due, of all organizations, in the order of their ids. Of runs at the same time
 * one gets each row. A row that fails is logged and left as it was; the others are worked off, and it is tried again in
 * the next run. A killed process leaves the row that it was at as it was.
 */
export const dueTask = <T extends Table, const Due extends Where<T>, R = never>(
  { call, db }: Pick<PluginContext, "call" | "db">,
  { each, of, where, ...task }: DueOptions<T, Due, R>
): PluginTask<Exclude<R, CurrentActor>> => {
  const one = Effect.fnUntraced(
    function*(place: Place, due: Where<T>) {
      const row = yield* lockDue(db.sql, of, { ...due }, place)
      if (row === undefined) return "skipped" as const
      yield* each(row, yield* call)
      return "done" as const
    },
    (work, { organizationId }) => Effect.provideService(db.transaction(work), CurrentActor, systemActor(organizationId))
  )

  const attempt = (place: Place, due: Where<T>) =>
    one(place, due).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.interrupt
          : Effect.as(Effect.logError(`${task.slug} failed for row ${place.id}`, cause), "failed" as const)
      )
    )

  return defineTask({
    // A run that takes long outlasts the next tick.
    concurrency: { key: () => task.slug, supersedes: true },
    ...task,
    handler: Effect.fn("dueTask")(function*() {
      const due = where(yield* DateTime.nowAsDate)
      const counts = { done: 0, failed: 0, skipped: 0 }
      for (let after = firstId, more = true; more;) {
        const page = yield* placesAfter(db.sql, of, { ...due }, after, pageSize)
        for (const place of page) counts[yield* attempt(place, due)]++
        after = page.at(-1)?.id ?? after
        more = page.length === pageSize
      }
      return { output: counts satisfies DueCounts }
    })
  })
}
