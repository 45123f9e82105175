import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { newId } from "../ids/Id.ts"
import type { HoldState, PinnedHold, Reservation, StockSnapshot } from "./Reservation.ts"
import { reserveStatement } from "./ReservationStatementRepo.ts"
import type { WarehouseStock } from "./StockRules.ts"

interface LevelRow {
  readonly sellable_id: string
  readonly version: bigint
  readonly warehouse_id: string | null
  readonly priority: number | null
  readonly available: number | null
}

interface HoldRow {
  readonly holder: string
  readonly state: HoldState
  readonly pricing: string | null
}

const toHold = (row: HoldRow): PinnedHold => ({ ...row, pricing: row.pricing ?? "null" })

const toSnapshots = (rows: ReadonlyArray<LevelRow>): ReadonlyMap<string, StockSnapshot> => {
  const snapshots = new Map<string, StockSnapshot & { readonly levels: Array<WarehouseStock> }>()
  for (const { available, priority, sellable_id: sellable, version, warehouse_id: warehouseId } of rows) {
    const snapshot = snapshots.get(sellable) ?? { sellable, version: Number(version), levels: [] }
    snapshots.set(sellable, snapshot)
    if (warehouseId !== null) {
      snapshot.levels.push({ warehouseId, priority: priority ?? 0, available: available ?? 0 })
    }
  }
  return snapshots
}

/**
 * Database access of the stock entity: what it reads, and the single statement that writes a batch of checkouts. The
 * number of statements does not grow with the checkouts or lines.
 */
export class ReservationRepo extends Context.Service<ReservationRepo>()("stoa/domain/inventory/ReservationRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(ReservationRepo, ReservationRepo.make)
}

interface OutcomeRow {
  readonly stale: ReadonlyArray<string>
  readonly fresh: ReadonlyArray<string>
  readonly had: ReadonlyArray<HoldRow>
}

const nothing: OutcomeRow = { stale: [], fresh: [], had: [] }

const make = (sql: SqlClient.SqlClient) => {
  /** Stock of sellables with their versions, read in one snapshot; a sellable without stock records has no entry. */
  const load = Effect.fn("ReservationRepo.load")(function*(sellables: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    return toSnapshots(
      yield* sql<LevelRow>`select i.sellable_id, i.version, l.warehouse_id, l.priority, l.available
        from stock_items i left join (
          select s.sellable_id, s.warehouse_id, w.priority, s.on_hand - s.reserved as available
          from stock_levels s join warehouses w on w.id = s.warehouse_id and w.is_active
          where s.organization_id = ${organization} and s.sellable_id = any(${sellables}::uuid[])) l
          on l.sellable_id = i.sellable_id
        where i.organization_id = ${organization} and i.sellable_id = any(${sellables}::uuid[])`
    )
  }, Effect.orDie)
  /** The holds of these holders, in any state. */
  const holds = Effect.fn("ReservationRepo.holds")(function*(holders: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<HoldRow>`select holder, state, pricing::text as pricing from holds
      where organization_id = ${organization} and holder = any(${holders}::text[])`
    return rows.map(toHold)
  }, Effect.orDie)
  /**
   * Writes reservations decided on these versions, all or nothing: one outdated version refuses the batch and names the
   * sellable. A holder with a hold keeps it unchanged.
   */
  const reserve = Effect.fn("ReservationRepo.reserve")(
    function*(fences: ReadonlyArray<StockSnapshot>, reservations: ReadonlyArray<Reservation>) {
      const organization = yield* currentOrganization
      const lines = reservations.flatMap(({ holder, lines }) => lines.map((line) => ({ ...line, holder, id: newId() })))
      const rows = yield* reserveStatement<OutcomeRow>(sql, organization, fences, reservations, lines)
      const { fresh, had, stale } = rows[0] ?? nothing
      return { stale, fresh: new Set(fresh), existing: had.map(toHold) }
    },
    Effect.orDie
  )
  /** Runs `body` in a transaction that locks out every other writer of these holders and sellables. */
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
  return { load, holds, reserve, alone }
}
