import { Effect } from "effect"
import type { CurrentActor, PluginDatabase, Where } from "stoa/plugin"
import { type OrderExport, orderExports } from "./OrderTables.ts"

const pageSize = 100

/** Works off exports in the order of their ids, a page at a time, and gives how many there were. */
export const eachExport = Effect.fnUntraced(function*<E, R>(
  db: PluginDatabase,
  where: Where<typeof orderExports>,
  work: (row: OrderExport) => Effect.Effect<unknown, E, R | CurrentActor>
) {
  let count = 0
  let after: string | undefined
  do {
    const behind = after === undefined ? where : { ...where, id: { gt: after } }
    const page = yield* db.table(orderExports).list(behind, { order: ["id"], limit: pageSize })
    yield* Effect.forEach(page, work, { discard: true })
    count += page.length
    after = page.length === pageSize ? page.at(-1)?.id : undefined
  } while (after !== undefined)
  return count
})
