import { Effect } from "effect"
import { CurrentActor, type PluginDatabase, systemActor } from "stoa/plugin"
import { overdue, type WithDeadline } from "./DeadlineRepo.ts"

const first = "00000000-0000-0000-0000-000000000000"

/**
 * Does something with every row of a table whose deadline has passed, as the service itself in the row's organization;
 * each is looked at once. A row that was answered or decided meanwhile is passed over. Gives how many were changed.
 */
export const whenOverdue = Effect.fnUntraced(function*<E extends { readonly _tag: string }>(
  db: PluginDatabase["Service"],
  table: WithDeadline,
  change: (id: string) => Effect.Effect<unknown, E, CurrentActor>
) {
  let changed = 0
  for (let after: string | undefined = first; after !== undefined;) {
    const rows: Effect.Success<ReturnType<typeof overdue>> = yield* overdue(db, table, after)
    for (const { id, organizationId } of rows) {
      const done = yield* change(id).pipe(
        Effect.as(true),
        Effect.catch(({ _tag }) =>
          Effect.as(Effect.logInfo(`${table} ${id} stays as it is at its deadline: ${_tag}`), false)
        ),
        Effect.provideService(CurrentActor, systemActor(organizationId))
      )
      if (done) changed += 1
    }
    after = rows.at(-1)?.id
  }
  return changed
})
