import { Context, Effect, Layer, type Result } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../access/Actor.ts"
import { NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { allocateUnits } from "./AllocatedUnitsRepo.ts"
import { manualHolder } from "./Reservation.ts"
import { returnUnits } from "./ReturnedUnitsRepo.ts"
import type { StockAllocation, WarehouseStock } from "./StockRules.ts"

const levelJson = (reserved: string) =>
  `jsonb_build_object('id', x.id, 'entityId', x.entity_id, 'variantId', x.variant_id, 'warehouseId', x.warehouse_id,
    'quantityOnHand', x.on_hand, 'quantityReserved', ${reserved})`

/**
 * The change log's entry of every level that a reservation or a release by hand changed: rows of `stock_levels` in the
 * part `from`, with the `units` that were moved.
 */
export const reservationNoted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: "inventory.reserve" | "inventory.release",
  orderId: string,
  from: string
) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "inventory",
    entityId: "x.id::text",
    payload: sql`${sql.literal(levelJson("x.reserved"))}
      || jsonb_build_object('orderId', ${orderId}::text, 'quantity', x.units)`,
    before: levelJson(type === "inventory.reserve" ? "x.reserved - x.units" : "x.reserved + x.units"),
    from: `${from} x`
  })

/** Units of a sellable (variant, else entity) reserved or released by hand for an order, in any or in one warehouse. */
export interface ManualHold {
  readonly orderId: string
  readonly entityId: string
  readonly sellable: string
  readonly warehouseId: string | null
  readonly quantity: number
  readonly performedBy: string | null
}

interface LevelRow {
  readonly warehouse_id: string
  readonly priority: number
  readonly is_active: boolean
  readonly available: number
}

/** Decides which warehouses the units come from; active ones only. */
export type Allocate = (
  levels: ReadonlyArray<WarehouseStock>
) => Result.Result<ReadonlyArray<StockAllocation>, ValidationFailed>

/** Manual reservations: one hold per order, which never expires and can grow and shrink. */
export class ManualHoldRepo extends Context.Service<ManualHoldRepo>()("stoa/domain/inventory/ManualHoldRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({ reserve: makeReserve(sql), release: makeRelease(sql) }))
}) {
  static readonly layer = Layer.effect(ManualHoldRepo, ManualHoldRepo.make)
}

/** A statement after the locks reads the levels, so they cannot change between read and write. */
const lockedLevels = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, { entityId, orderId, sellable, warehouseId }: ManualHold) {
    const organization = yield* currentOrganization
    yield* sql`insert into holds (organization_id, holder) values (${organization}, ${manualHolder(orderId)})
      on conflict (organization_id, holder) do update set state = 'held', updated_at = now()`
    yield* sql`select 1 from stock_items
      where organization_id = ${organization} and sellable_id = ${sellable}::uuid for update`
    return yield* sql<LevelRow>`select l.warehouse_id, w.priority, w.is_active, l.on_hand - l.reserved as available
      from stock_levels l join warehouses w on w.id = l.warehouse_id
      where l.organization_id = ${organization} and l.sellable_id = ${sellable}::uuid and l.entity_id = ${entityId}::uuid
        and (${warehouseId}::uuid is null or l.warehouse_id = ${warehouseId}::uuid)`
  }
)

const take = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, hold: ManualHold, allocations: ReadonlyArray<StockAllocation>) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const taking = {
      organization,
      holder: manualHolder(hold.orderId),
      orderId: hold.orderId,
      entityId: hold.entityId,
      sellable: hold.sellable,
      performedBy: hold.performedBy ?? actor.userId,
      allocations
    }
    yield* sql`with ${allocateUnits(sql, taking)},
      entry as (${reservationNoted(sql, actor, "inventory.reserve", hold.orderId, "taken")})${
      idempotencyRecord(sql, actor)
    }
      select 1`
  }
)

/**
 * Adds to what the order holds. 404 if the entity's sellable has no level there; a refusal by `allocate` changes
 * nothing.
 */
const makeReserve = (sql: SqlClient.SqlClient) =>
  Effect.fn("ManualHoldRepo.reserve")(
    function*(hold: ManualHold, allocate: Allocate) {
      return yield* sql.withTransaction(Effect.gen(function*() {
        const rows = yield* lockedLevels(sql, hold)
        if (rows.length === 0) return yield* NotFound.of("No inventory record.")
        const levels = rows.filter((row) => row.is_active).map((row) => ({
          warehouseId: row.warehouse_id,
          priority: row.priority,
          available: row.available
        }))
        yield* take(sql, hold, yield* Effect.fromResult(allocate(levels)))
      }))
    },
    Effect.catchTag("SqlError", Effect.die)
  )

/** Gives back at most what the order holds of the sellable; returns the units. 404 when it never held any. */
const makeRelease = (sql: SqlClient.SqlClient) =>
  Effect.fn("ManualHoldRepo.release")(
    function*(hold: ManualHold) {
      const actor = yield* CurrentActor
      const organization = actor.organizationId
      const holder = manualHolder(hold.orderId)
      const { quantity, sellable, warehouseId } = hold
      const returning = { organization, holder, sellable, warehouseId, quantity, reason: "released by hand" }
      const rows = yield* sql.withTransaction(Effect.andThen(
        sql`select 1 from holds where organization_id = ${organization} and holder = ${holder} for update`,
        sql<{ known: boolean; units: number }>`with ${returnUnits(sql, returning)},
          ended as (update holds set state = 'released', updated_at = now()
            where organization_id = ${organization} and holder = ${holder} and state = 'held'
              and (select sum(quantity) from lines) = (select sum(quantity) from hold_lines
                where organization_id = ${organization} and holder = ${holder})),
          entry as (${reservationNoted(sql, actor, "inventory.release", hold.orderId, "freed")})${
          idempotencyRecord(sql, actor, "lines")
        }
          select exists (select 1 from held) as known, coalesce(sum(quantity), 0)::int4 as units from lines`
      ))
      if (rows[0]?.known !== true) return yield* NotFound.of(`Order '${hold.orderId}' has nothing of this reserved.`)
      return rows[0].units
    },
    Effect.catchTag("SqlError", Effect.die)
  )
