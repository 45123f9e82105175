import { Context, Effect, Layer } from "effect"
import { type OrderId, type PageRequest, PluginDatabase, type RowOf } from "stoa/plugin"
import { toSubOrder } from "./SubOrder.ts"
import type { SubOrderStatus } from "./SubOrderMachine.ts"
import { subOrderLines, subOrders } from "./SubOrderTables.ts"

type Row = RowOf<typeof subOrders>

/** Which sub-orders are asked for. */
export interface SubOrderFilter {
  readonly orderId?: OrderId | undefined
  readonly vendorId?: string | undefined
  readonly status?: SubOrderStatus | undefined
}

/** Whose sub-order it has to be; another's reads as 404. */
export interface OfVendor {
  readonly vendorId?: string
}

/** Vendors' parts of orders (contract, plugins §1.1). */
export class SubOrders extends Context.Service<SubOrders>()("stoa/plugins/marketplace/suborders/SubOrders", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const rows = db.table(subOrders)

    /** With their lines, in one statement for all of them. */
    const withLines = Effect.fnUntraced(function*(found: ReadonlyArray<Row>) {
      const lines = found.length === 0 ? [] : yield* db.table(subOrderLines).list(
        { subOrderId: { in: found.map(({ id }) => id) } },
        { order: ["createdAt"], limit: 100_000 }
      )
      return found.map((row) => toSubOrder(row, lines.filter(({ subOrderId }) => subOrderId === row.id)))
    })

    const shown = (row: Row) =>
      Effect.map(
        db.table(subOrderLines).list({ subOrderId: row.id }, { order: ["createdAt"], limit: 100_000 }),
        (lines) => toSubOrder(row, lines)
      )

    const find = Effect.fnUntraced(function*(id: string, { vendorId }: OfVendor) {
      const found = yield* rows.get(id)
      return vendorId === undefined || found.vendorId === vendorId ? found : yield* rows.get(unusedId)
    })

    const page = Effect.fn("SubOrders.page")(function*(
      { orderId, status, vendorId }: SubOrderFilter,
      request: PageRequest
    ) {
      const found = yield* rows.page({ orderId, vendorId, status }, request)
      return { ...found, items: yield* withLines(found.items) }
    })

    return {
      page,
      get: Effect.fn("SubOrders.get")((id: string, of: OfVendor = {}) => Effect.flatMap(find(id, of), shown))
    }
  })
}) {
  static readonly layer = Layer.effect(SubOrders, SubOrders.make)
}

/** The id of no row. */
const unusedId = "00000000-0000-4000-8000-000000000000"
