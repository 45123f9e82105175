import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import type { OrderId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { waiting, withdrawn } from "./BackorderStatements.ts"
import {
  allocateStock,
  HeldUnits,
  type HoldChange,
  isAllocated,
  StockAllocation,
  type StockDemand,
  unitsBySellable,
  UnitsShort,
  waitingUnits,
  WarehouseStock
} from "./StockRules.ts"
import {
  allocatedUnits,
  allocateUnits,
  costOf,
  deductedFromHolds,
  holdUnits,
  lockingHolds,
  lockVersions,
  movedVersions,
  newHold,
  openUnits,
  releaseStock,
  requestedUnits,
  returnUnits
} from "./StockStatements.ts"
import { stockMovements } from "./StockTables.ts"

/**
 * Changes the holds of a placed order for edits and refunds (contract §4.3). Call it in the transaction that changes
 * the order, after locking its row. Locks holds, versions by key, levels, and moves every version. A constant number of
 * statements.
 */
export class OrderHoldRepo extends Context.Service<OrderHoldRepo>()("stoa/domain/inventory/OrderHoldRepo", {
  make: Effect.map(
    SqlClient.SqlClient,
    (sql) => ({ change: makeChange(sql), waiting: makeWaiting(sql), ...makeRefunded(sql), ...makeRestock(sql) })
  )
}) {
  static readonly layer = Layer.effect(OrderHoldRepo, OrderHoldRepo.make)
}

const Waiting = Schema.Struct({ sellable: Schema.String, quantity: Schema.Int })

/** Units that an order waits for, by sellable. */
const makeWaiting = (sql: SqlClient.SqlClient) =>
  Effect.fn("OrderHoldRepo.waiting")(function*(orderId: OrderId) {
    const rows = yield* decoding(sql, Waiting)`select sellable_id as sellable, quantity from backorders
      where organization_id = ${yield* currentOrganization} and holder = ${orderId} and quantity > 0`
    return Object.fromEntries(rows.map(({ quantity, sellable }) => [sellable, quantity]))
  }, Effect.orDie)

const heldUnits = (sql: SqlClient.SqlClient, statement: Statement.Fragment) => decoding(sql, HeldUnits)`${statement}`

const makeChange = (sql: SqlClient.SqlClient) => {
  const item = (organization: string, sellable: string) =>
    decoding(sql, Schema.Struct({ backordered: Schema.Int }))`select backordered from stock_items
      where organization_id = ${organization} and sellable_id = ${sellable}::uuid for update`

  const take = Effect.fnUntraced(function*(
    organization: string,
    change: HoldChange,
    backordered: number,
    performedBy: string | null
  ) {
    const { backorders, entityId, orderId, sellable, units } = change
    const levels = yield* decoding(sql, WarehouseStock)`select l.warehouse_id as "warehouseId", w.priority,
        l.on_hand - l.reserved as available
      from stock_levels l join warehouses w on w.id = l.warehouse_id and w.is_active
      where l.organization_id = ${organization} and l.sellable_id = ${sellable}::uuid`
    const allocated = allocateStock([{ sellable, quantity: units, backorders }], {
      get: () => ({ levels, backordered })
    })
    const held = yield* Effect.mapError(Effect.fromResult(allocated), (short) => new UnitsShort(short))
    const allocations = held.filter(isAllocated)
    if (allocations.length > 0) {
      const taking = { organization, holder: orderId, orderId, entityId, sellable, performedBy, allocations }
      yield* sql`with ${allocateUnits(sql, taking)} select 1`
    }
    const waits = waitingUnits(held)
    if (waits.size > 0) yield* waiting(sql, organization, orderId, waits)
  })

  return Effect.fn("OrderHoldRepo.change")(function*(change: HoldChange) {
    const { organizationId: organization, userId } = yield* CurrentActor
    const { orderId, sellable, units } = change
    if (units === 0) return
    yield* sql`${newHold(sql, organization, orderId, "sold")}
      on conflict (organization_id, holder) do update set updated_at = now()`
    if (change.backorders > 0) yield* lockVersions(sql, organization, [sellable])
    const [{ backordered } = { backordered: 0 }] = yield* item(organization, sellable)
    if (units > 0) return yield* take(organization, change, backordered, userId)
    const freed = backordered === 0
      ? []
      : yield* heldUnits(sql, withdrawn(sql, organization, [orderId], new Map([[sellable, -units]])))
    const quantity = freed.reduce((left, withdrawal) => left - withdrawal.quantity, -units)
    if (quantity === 0) return
    const returning = { organization, holder: orderId, sellable, warehouseId: null, quantity }
    yield* sql`with ${returnUnits(sql, { ...returning, reason: "order edited" })} select 1`
  }, Effect.catchTag("SqlError", Effect.die))
}

const noted = (
  sql: SqlClient.SqlClient,
  organization: string,
  orderId: OrderId,
  type: "reservation" | "return",
  reason: string,
  from: string
) =>
  sql`noted as (
          insert into stock_movements ${
    stockMovements.insert(sql, {
      id: "gen_random_uuid()",
      organizationId: sql`${organization}`,
      entityId: "entity_id",
      variantId: "variant_id",
      warehouseId: "warehouse_id",
      type: sql`${type}`,
      quantity: "quantity",
      referenceType: "'order'",
      referenceId: sql`${orderId}`,
      reason: sql`${reason}`,
      unitCost: "unit_cost"
    })
  } from ${sql(from)})
        select sellable_id as sellable, warehouse_id as "warehouseId", quantity from ${sql(from)}`

/** Lets the order wait again for units that waited, in its place of before. Their items are locked. */
const waitAgain = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organization: string, orderId: OrderId, units: ReadonlyMap<string, number>) {
    const sellables = [...units.keys()]
    yield* waiting(sql, organization, orderId, units)
    yield* sql`select stock_allocate_waiting(${organization}, id) from unnest(${sellables}::uuid[]) id order by id`
  }
)

const makeRefunded = (sql: SqlClient.SqlClient) => {
  const locking = lockingHolds(sql)
  const allocations = decoding(sql, StockAllocation)
  const release = (organization: string, holders: ReadonlyArray<string>, units: ReadonlyMap<string, number>) =>
    allocations`with ${openUnits(sql, organization, holders, units)},
      ${releaseStock(sql, organization, "refunded")},
      ${deductedFromHolds(sql, organization, holders, "released")}
      select sellable_id as sellable, warehouse_id as "warehouseId", sum(quantity)::int4 as quantity from lines
      group by sellable_id, warehouse_id`

  /**
   * Releases units that were not handed over: those that wait first. Returns what `holdAgain` takes. Locks the items of
   * `others` too, which the transaction changes afterwards.
   */
  const releaseUnits = Effect.fn("OrderHoldRepo.releaseUnits")(
    function*(orderId: OrderId, units: ReadonlyArray<StockDemand>, others: ReadonlyArray<StockDemand> = []) {
      if (units.length === 0) return []
      const open = new Map(unitsBySellable(units))
      return yield* locking(
        orderId,
        Effect.fnUntraced(function*(organization, holders, waits) {
          const freed = waits ? yield* heldUnits(sql, withdrawn(sql, organization, [orderId], open)) : []
          for (const { quantity, sellable } of freed) open.set(sellable, (open.get(sellable) ?? 0) - quantity)
          return [...freed, ...yield* release(organization, holders, open)]
        }),
        others.length === 0 ? [] : [...units, ...others].map(({ sellable }) => sellable)
      )
    },
    Effect.orDie
  )

  const holdReleased = (organization: string, orderId: OrderId, released: ReadonlyArray<StockAllocation>) =>
    allocations`with lines as materialized (select * from ${allocatedUnits(sql, released)}),
        ${movedVersions(sql, organization)},
        taken as (
          update stock_levels s set reserved = s.reserved + l.quantity, updated_at = now()
          from lines l
          where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
            and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
            and s.reserved + l.quantity <= s.on_hand
          returning s.sellable_id, s.warehouse_id, s.entity_id, s.variant_id, l.quantity, null::numeric as unit_cost),
        held as (
          ${newHold(sql, organization, orderId, "sold")} where exists (select 1 from taken)
          on conflict (organization_id, holder) do update set state = 'sold', updated_at = now()),
        kept as (${holdUnits(sql, organization, orderId, "taken")}),
        ${noted(sql, organization, orderId, "reservation", "refund came to nothing", "taken")}`

  const holdAgain = Effect.fn("OrderHoldRepo.holdAgain")(
    function*(orderId: OrderId, units: ReadonlyArray<HeldUnits>) {
      if (units.length === 0) return []
      const [released, waits] = [units.filter(isAllocated), waitingUnits(units)]
      return yield* locking(
        orderId,
        (organization) =>
          Effect.andThen(
            waits.size === 0 ? Effect.void : waitAgain(sql, organization, orderId, waits),
            holdReleased(organization, orderId, released)
          ),
        waits.size === 0 ? [] : units.map(({ sellable }) => sellable)
      )
    },
    Effect.orDie
  )

  return { releaseUnits, holdAgain }
}

const makeRestock = (sql: SqlClient.SqlClient) => ({
  /** Returns handed-over units as movements `return`: at most what left for this order and has not come back. */
  restoreHold: Effect.fn("OrderHoldRepo.restoreHold")(
    function*(orderId: OrderId, units: ReadonlyArray<StockDemand>) {
      if (units.length === 0) return []
      const organization = yield* currentOrganization
      return yield* decoding(sql, StockAllocation)`with away as materialized (
          select coalesce(variant_id, entity_id) as sellable_id, warehouse_id, -sum(quantity)::int4 as quantity
          from stock_movements
          where organization_id = ${organization} and reference_id = ${orderId} and reference_type = 'order'
            and type in ('fulfillment', 'sale', 'return')
          group by 1, 2),
        open as (
          select a.*, sum(a.quantity) over (partition by a.sellable_id order by w.priority, w.id) - a.quantity as earlier
          from away a join warehouses w on w.id = a.warehouse_id where a.quantity > 0),
        lines as materialized (
          select o.sellable_id, o.warehouse_id, least(o.quantity, a.quantity - o.earlier)::int4 as quantity
          from open o join ${requestedUnits(sql, unitsBySellable(units))} on a.sellable_id = o.sellable_id
          where a.quantity > o.earlier),
        ${movedVersions(sql, organization)},
        back as (
          update stock_levels s set on_hand = s.on_hand + l.quantity, updated_at = now(),
            allow_negative = s.reserved > s.on_hand + l.quantity
          from lines l
          where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
            and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
          returning s.sellable_id, s.warehouse_id, s.entity_id, s.variant_id, l.quantity,
            ${sql.literal(costOf("s"))} as unit_cost),
        ${noted(sql, organization, orderId, "return", "refunded", "back")}`
    },
    Effect.orDie
  )
})
