import { Context, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { newId } from "../platform/ids/Id.ts"
import { type HoldRow, holdsStatement, reserveStatement, stockStatement } from "./ReservationStatements.ts"
import type { PinnedHold, Reservation, StockSnapshot, WarehouseStock } from "./StockRules.ts"
import { lockVersions } from "./StockStatements.ts"

const toHold = (row: HoldRow): PinnedHold => ({ ...row, pricing: row.pricing ?? "null" })

export class ReservationRepo extends Context.Service<ReservationRepo>()("stoa/domain/inventory/ReservationRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(ReservationRepo, ReservationRepo.make)
}

const make = (sql: SqlClient.SqlClient) => {
  const load = Effect.fn("ReservationRepo.load")(function*(sellables: ReadonlyArray<string>) {
    const rows = yield* stockStatement(sql, yield* currentOrganization, sellables)
    const snapshots = new Map<string, StockSnapshot & { readonly levels: Array<WarehouseStock> }>()
    for (
      const { available, backordered, priority, sellable_id: sellable, version, warehouse_id: warehouseId } of rows
    ) {
      const snapshot = snapshots.get(sellable) ?? { sellable, version: Number(version), backordered, levels: [] }
      snapshots.set(sellable, snapshot)
      if (warehouseId !== null) {
        snapshot.levels.push({ warehouseId, priority: priority ?? 0, available: available ?? 0 })
      }
    }
    return snapshots
  }, Effect.orDie)
  /** Begins to count the units of sellables that were never stocked. */
  const begin = Effect.fn("ReservationRepo.begin")(function*(sellables: ReadonlyArray<string>) {
    yield* lockVersions(sql, yield* currentOrganization, sellables)
  }, Effect.orDie)
  const holds = Effect.fn("ReservationRepo.holds")(function*(holders: ReadonlyArray<string>) {
    return (yield* holdsStatement(sql, yield* currentOrganization, holders)).map(toHold)
  }, Effect.orDie)
  /**
   * All or nothing: one outdated version refuses the batch and names the sellable. A holder with a hold keeps it
   * unchanged.
   */
  const reserve = Effect.fn("ReservationRepo.reserve")(
    function*(fences: ReadonlyArray<StockSnapshot>, reservations: ReadonlyArray<Reservation>) {
      const organization = yield* currentOrganization
      const lines = reservations.flatMap(({ holder, lines }) => lines.map((line) => ({ ...line, holder, id: newId() })))
      const [outcome] = yield* reserveStatement(sql, organization, fences, reservations, lines)
      const { fresh, had, stale } = outcome ?? { fresh: [], had: [], stale: [] }
      return { stale, fresh: new Set(fresh), existing: had.map(toHold) }
    },
    Effect.orDie
  )
  const alone = <A, R>(
    holders: ReadonlyArray<string>,
    sellables: ReadonlyArray<string>,
    body: Effect.Effect<A, never, R>
  ) =>
    sql.withTransaction(Effect.gen(function*() {
      const organization = yield* currentOrganization
      // Holds before items, as everywhere: two writers never wait for each other.
      yield* sql`select 1 from holds where organization_id = ${organization} and holder = any(${holders}::text[])
        order by holder for update`
      yield* sql`select 1 from stock_items
        where organization_id = ${organization} and sellable_id = any(${sellables}::uuid[])
        order by sellable_id for update`
      return yield* body
    })).pipe(Effect.orDie, Effect.withSpan("ReservationRepo.alone"))
  return { load, begin, holds, reserve, alone }
}

const reservations = Metric.counter("stoa_stock_reservations_total", {
  description: "Reservations of stock, by outcome: granted, refused for want of stock, expired before they were sold",
  incremental: true
})

const by = {
  granted: Metric.withAttributes(reservations, { outcome: "granted" }),
  refused: Metric.withAttributes(reservations, { outcome: "refused" }),
  expired: Metric.withAttributes(reservations, { outcome: "expired" })
}

export const countReservations = (outcome: keyof typeof by, count: number): Effect.Effect<void> =>
  count === 0 ? Effect.void : Metric.update(by[outcome], count)
