import { Effect } from "effect"
import type { CurrentActor, PluginDatabase, Where } from "stoa/plugin"
import { type OrderExport, orderExports } from "./OrderTables.ts"

const pageSize = 100
const firstId = "00000000-0000-0000-0000-000000000000"

/** Works off exports in the order of their ids, a page at a time, and gives how many there were. */
export const eachExport = Effect.fnUntraced(function*<E, R>(
  db: PluginDatabase,
  where: Where<typeof orderExports>,
  work: (row: OrderExport) => Effect.Effect<unknown, E, R | CurrentActor>
) {
  let count = 0
  for (let after = firstId, more = true; more;) {
    const page = yield* db.table(orderExports).list({ ...where, id: { gt: after } }, { order: ["id"], limit: pageSize })
    yield* Effect.forEach(page, work, { discard: true })
    count += page.length
    after = page.at(-1)?.id ?? after
    more = page.length === pageSize
  }
  return count
})
