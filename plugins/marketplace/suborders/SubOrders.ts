import { Context, DateTime, Effect, Layer } from "effect"
import {
  type Conflict,
  type CurrentActor,
  InvalidTransition,
  type NotFound,
  type PageOf,
  type PageRequest,
  PluginDatabase,
  type RowOf,
  type ValidationFailed,
  type Where
} from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import { type SubOrder, toSubOrder } from "./SubOrder.ts"
import { sources, sourcesForStaff, stampsOf, type SubOrderStatus } from "./SubOrderMachine.ts"
import { subOrderLines, subOrders } from "./SubOrderTables.ts"

type Row = RowOf<typeof subOrders>

/** Which sub-orders are asked for. */
export interface SubOrderFilter {
  readonly orderId?: string | undefined
  readonly vendorId?: string | undefined
  readonly status?: SubOrderStatus | undefined
}

/** Whose sub-order it has to be; another's reads as 404. */
export interface OfVendor {
  readonly vendorId?: string
}

/** What a parcel is known by. */
export interface Parcel {
  readonly trackingNumber: string
  readonly carrier?: string | undefined
  readonly trackingUrl?: string | undefined
}

type Moved = Exclude<SubOrderStatus, "cancelled">
type MoveError = NotFound | Conflict | ValidationFailed | InvalidTransition

/** What a status cannot become. */
export const cannotBecome = (from: SubOrderStatus, to: SubOrderStatus) =>
  InvalidTransition.of(`A sub-order that is ${from} cannot become ${to}.`)

/** Vendors' parts of orders, and their way to the customer (contract, plugins §1.2). */
export class SubOrders extends Context.Service<SubOrders, {
  readonly page: (filter: SubOrderFilter, page: PageRequest) => Effect.Effect<PageOf<SubOrder>, never, CurrentActor>
  readonly get: (id: string, of?: OfVendor) => Effect.Effect<SubOrder, NotFound, CurrentActor>
  /** As its vendor does; of several requests at once one moves it. 404, 422 INVALID_TRANSITION. */
  readonly move: (
    id: string,
    of: OfVendor,
    to: Exclude<Moved, "pending">,
    parcel?: Parcel
  ) => Effect.Effect<SubOrder, MoveError, CurrentActor>
  /** As staff may: to any status but out of an end. One that is there already stays as it is. */
  readonly force: (id: string, to: Moved) => Effect.Effect<SubOrder, MoveError, CurrentActor>
}>()("stoa/plugins/marketplace/suborders/SubOrders") {
  static readonly layer = Layer.effect(
    SubOrders,
    Effect.gen(function*() {
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
        return vendorId === undefined || found.vendorId === vendorId ? found : yield* rows.get(nobody)
      })

      /** Moves it if it is still in one of the statuses, and tells of it. */
      const write = Effect.fnUntraced(function*(
        row: Row,
        to: Moved,
        from: ReadonlyArray<SubOrderStatus>,
        parcel: Partial<Parcel>
      ) {
        const { holdbackDays } = yield* db.table(vendors).get(row.vendorId)
        const stamps = stampsOf(row, to, DateTime.toDateUtc(yield* DateTime.now), holdbackDays)
        const only: Where<typeof subOrders> = { status: { in: from } }
        const moved = yield* rows.update(row.id, { status: to, ...stamps, ...parcel }, only).pipe(
          Effect.catchTag(
            "NotFound",
            () => Effect.flatMap(rows.get(row.id), (now) => Effect.fail(cannotBecome(now.status, to)))
          )
        )
        const subOrder = yield* shown(moved)
        if (to === "shipped") {
          yield* db.announce("suborder.shipped", { entityType: "sub_order", entityId: row.id, payload: subOrder })
        }
        return subOrder
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
        get: Effect.fn("SubOrders.get")((id: string, of: OfVendor = {}) => Effect.flatMap(find(id, of), shown)),
        move: Effect.fn("SubOrders.move")(function*(id, of, to, parcel = undefined) {
          const row = yield* find(id, of)
          if (!sources[to].includes(row.status)) return yield* cannotBecome(row.status, to)
          return yield* db.transaction(write(row, to, sources[to], { ...parcel }))
        }),
        force: Effect.fn("SubOrders.force")(function*(id, to) {
          const row = yield* rows.get(id)
          if (row.status === to) return yield* shown(row)
          if (!sourcesForStaff(to).includes(row.status)) return yield* cannotBecome(row.status, to)
          return yield* db.transaction(write(row, to, [row.status], {}))
        })
      }
    })
  )
}

/** The id of no row. */
const nobody = "00000000-0000-4000-8000-000000000000"
