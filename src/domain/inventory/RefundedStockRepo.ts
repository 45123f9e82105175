import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { lockingHolds, unitsBySellable } from "./LockedHoldsRepo.ts"
import { deductedFromHolds, movedVersions, openUnits, requestedUnits } from "./OpenAllocationsRepo.ts"
import { releaseStock } from "./ReleaseStockRepo.ts"
import type { StockAllocation, StockDemand } from "./StockRules.ts"

interface MovedRow {
  readonly sellable_id: string
  readonly warehouse_id: string
  readonly quantity: number
}

const toAllocation = (row: MovedRow): StockAllocation => ({
  sellable: row.sellable_id,
  warehouseId: row.warehouse_id,
  quantity: row.quantity
})

/**
 * The statements behind `RefundedStock`. They take locks in the order of all stock writers (holds, versions by key,
 * levels) and move every version they touch, so that stock entities notice.
 */
export class RefundedStockRepo extends Context.Service<RefundedStockRepo>()("stoa/domain/inventory/RefundedStockRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    release: makeRelease(sql),
    holdAgain: makeHoldAgain(sql),
    restoreHold: makeRestoreHold(sql)
  }))
}) {
  static readonly layer = Layer.effect(RefundedStockRepo, RefundedStockRepo.make)
}

const makeRelease = (sql: SqlClient.SqlClient) => {
  const locking = lockingHolds(sql)
  return Effect.fn("RefundedStockRepo.release")(function*(orderId: string, units: ReadonlyArray<StockDemand>) {
    const asked = unitsBySellable(units)
    const rows = yield* locking(
      orderId,
      (organization, holders) =>
        sql<MovedRow>`with ${openUnits(sql, organization, holders, asked)},
        ${releaseStock(sql, organization, "refunded")},
        ${deductedFromHolds(sql, organization, holders, "released")}
        select sellable_id, warehouse_id, sum(quantity)::int4 as quantity from lines group by sellable_id, warehouse_id`
    )
    return rows.map(toAllocation)
  }, Effect.orDie)
}

const makeHoldAgain = (sql: SqlClient.SqlClient) => {
  const locking = lockingHolds(sql)
  return Effect.fn("RefundedStockRepo.holdAgain")(
    function*(orderId: string, released: ReadonlyArray<StockAllocation>) {
      const rows = yield* locking(orderId, (organization) =>
        sql<MovedRow>`with lines as materialized (
          select * from unnest(${released.map(({ sellable }) => sellable)}::uuid[],
            ${released.map(({ warehouseId }) => warehouseId)}::uuid[],
            ${released.map(({ quantity }) => quantity)}::int4[]) l(sellable_id, warehouse_id, quantity)),
        ${movedVersions(sql, organization)},
        taken as (
          update stock_levels s set reserved = s.reserved + l.quantity, updated_at = now()
          from lines l
          where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
            and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
            and s.reserved + l.quantity <= s.on_hand
          returning s.sellable_id, s.warehouse_id, s.entity_id, s.variant_id, l.quantity),
        held as (
          insert into holds (organization_id, holder, state)
          select ${organization}, ${orderId}, 'sold' where exists (select 1 from taken)
          on conflict (organization_id, holder) do update set state = 'sold', updated_at = now()),
        kept as (
          insert into hold_lines (organization_id, holder, sellable_id, warehouse_id, quantity)
          select ${organization}, ${orderId}, sellable_id, warehouse_id, quantity from taken
          on conflict (organization_id, holder, sellable_id, warehouse_id)
            do update set quantity = hold_lines.quantity + excluded.quantity),
        noted as (
          insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
            reference_type, reference_id, reason)
          select gen_random_uuid(), ${organization}, entity_id, variant_id, warehouse_id, 'reservation', quantity,
            'order', ${orderId}, 'refund came to nothing' from taken)
        select sellable_id, warehouse_id, quantity from taken`)
      return rows.map(toAllocation)
    },
    Effect.orDie
  )
}

const makeRestoreHold = (sql: SqlClient.SqlClient) =>
  Effect.fn("RefundedStockRepo.restoreHold")(function*(orderId: string, units: ReadonlyArray<StockDemand>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<MovedRow>`with away as materialized (
          select coalesce(variant_id, entity_id) as sellable_id, warehouse_id, -sum(quantity)::int4 as quantity
          from stock_movements
          where organization_id = ${organization} and reference_id = ${orderId} and reference_type = 'order'
            and type in ('fulfillment', 'return')
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
          returning s.sellable_id, s.warehouse_id, s.entity_id, s.variant_id, l.quantity),
        noted as (
          insert into stock_movements (id, organization_id, entity_id, variant_id, warehouse_id, type, quantity,
            reference_type, reference_id, reason)
          select gen_random_uuid(), ${organization}, entity_id, variant_id, warehouse_id, 'return', quantity, 'order',
            ${orderId}, 'refunded' from back)
        select sellable_id, warehouse_id, quantity from back`
    return rows.map(toAllocation)
  }, Effect.orDie)
