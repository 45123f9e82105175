import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { type EntityId, newId, type OrderId, type WarehouseId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { type HoldState, manualHolder, type StockAllocation } from "./StockRules.ts"
import { holdLines, holds, stockMovements } from "./StockTables.ts"

/*
 * All writers lock in the same order: holds, versions by key, levels. Rows are picked by `= any(array(...))` even
 * beside a join: a plan made on an empty table would otherwise read and hash every row of the organization.
 */

/** SQL of a unit's cost: its average, unless a cost was set by hand since. */
export const costOf = (level: string) =>
  `case when round(${level}.average_cost) = ${level}.unit_cost then ${level}.average_cost else ${level}.unit_cost end`

export const newHold = (sql: SqlClient.SqlClient, organization: string, holder: string, state: HoldState) =>
  sql`insert into holds ${
    holds.insert(sql, { organizationId: sql`${organization}`, holder: sql`${holder}`, state: sql`${state}` })
  }`

/** Holds units: `sellable_id`, `warehouse_id`, `quantity`. */
export const holdUnits = (sql: SqlClient.SqlClient, organization: string, holder: string, rows: "lines" | "taken") =>
  sql`insert into hold_lines as h ${
    holdLines.insert(sql, {
      organizationId: sql`${organization}`,
      holder: sql`${holder}`,
      sellableId: "sellable_id",
      warehouseId: "warehouse_id",
      quantity: "quantity"
    })
  } from ${sql.literal(rows)}
    on conflict (organization_id, holder, sellable_id, warehouse_id)
      do update set quantity = h.quantity + excluded.quantity`

/**
 * Locks the versions of sellables in order, and creates missing ones. The empty update makes later statements see what
 * they waited for.
 */
export const lockVersions = (sql: SqlClient.SqlClient, organization: string, sellables: Iterable<string>) =>
  sql`insert into stock_items as i (organization_id, sellable_id)
    select ${organization}, id from unnest(${[...new Set(sellables)].toSorted()}::uuid[]) id order by id
    on conflict (organization_id, sellable_id) do update set version = i.version`

/**
 * Runs statements in a transaction that has locked the order's holds: a statement that starts before the lock would read
 * old lines. Locks items in their order as well: `items`, and those of the order if it waits for any, which `waits` says.
 */
export const lockingHolds = (sql: SqlClient.SqlClient) =>
<A, E, R>(
  orderId: OrderId,
  body: (organization: string, holders: ReadonlyArray<string>, waits: boolean) => Effect.Effect<A, E, R>,
  items: ReadonlyArray<string> = []
) =>
  sql.withTransaction(Effect.gen(function*() {
    const organization = yield* currentOrganization
    const holders = [orderId, manualHolder(orderId)]
    const locked = yield* decoding(sql, LockedItem)`with held as materialized (
          select 1 from holds where organization_id = ${organization} and holder = any(${holders}::text[])
          order by holder for update)
        ${itemsOf(sql, organization, holders, items)} and (select count(*) from held) >= 0
        order by i.sellable_id for update`
    return yield* body(organization, holders, locked.some(({ waits }) => waits))
  }))

const LockedItem = Schema.Struct({ waits: Schema.Boolean })

/** Selects `items`, and all items of holders that wait for any. */
const itemsOf = (
  sql: SqlClient.SqlClient,
  organization: string,
  holders: ReadonlyArray<string>,
  items: ReadonlyArray<string> = []
) => {
  const waits = sql`select sellable_id from backorders
    where organization_id = ${organization} and holder = any(${holders}::text[]) and quantity > 0`
  return sql`select exists (${waits}) as waits from stock_items i
    where i.organization_id = ${organization} and i.sellable_id = any(array(${waits} union
      select unnest(${items}::uuid[]) union select sellable_id from hold_lines where organization_id = ${organization} and holder = any(${holders}::text[])
        and quantity > 0 and exists (${waits})))`
}

/** Locks the items of holders that wait, so that nothing is allocated to them meanwhile. */
export const lockWaiting = (sql: SqlClient.SqlClient, organization: string, holders: ReadonlyArray<string>) =>
  sql`${itemsOf(sql, organization, holders)} order by i.sellable_id for update`

export const requestedUnits = (sql: SqlClient.SqlClient, units: ReadonlyMap<string, number> | undefined) =>
  sql`unnest(${[...(units?.keys() ?? [])]}::uuid[], ${[...(units?.values() ?? [])]}::int4[]) a(sellable_id, quantity)`

export const allocatedUnits = (sql: SqlClient.SqlClient, units: ReadonlyArray<StockAllocation>) =>
  sql`unnest(${units.map(({ sellable }) => sellable)}::uuid[], ${units.map(({ warehouseId }) => warehouseId)}::uuid[],
    ${units.map(({ quantity }) => quantity)}::int4[]) l(sellable_id, warehouse_id, quantity)`

/**
 * CTEs `open`, the held units in warehouse order, and `lines`, the first `units` of each sellable, or everything; never
 * more than is held. The caller has locked the holds.
 */
export const openUnits = (
  sql: SqlClient.SqlClient,
  organization: string,
  holders: ReadonlyArray<string>,
  units: ReadonlyMap<string, number> | undefined
) => {
  const everything = units === undefined
  return sql`open as materialized (
      select l.holder, l.sellable_id, l.warehouse_id, l.quantity,
        sum(l.quantity) over (partition by l.sellable_id order by w.priority, w.id, l.holder) - l.quantity as earlier
      from hold_lines l join holds h on h.organization_id = l.organization_id and h.holder = l.holder
      join warehouses w on w.id = l.warehouse_id
      where l.organization_id = ${organization} and l.holder = any(${holders}::text[]) and l.quantity > 0
        and h.organization_id = ${organization} and h.holder = any(${holders}::text[]) and h.state in ('held', 'sold')),
    lines as materialized (
      select o.holder, o.sellable_id, o.warehouse_id,
        case when ${everything} then o.quantity
          else least(o.quantity, a.quantity - o.earlier)::int4 end as quantity
      from open o left join ${requestedUnits(sql, units)} on a.sellable_id = o.sellable_id
      where ${everything} or a.quantity > o.earlier)`
}

export const deductedFromHolds = (
  sql: SqlClient.SqlClient,
  organization: string,
  holders: ReadonlyArray<string>,
  state: "fulfilled" | "released"
) =>
  sql`taken as (
      update hold_lines h set quantity = h.quantity - l.quantity from lines l
      where h.organization_id = ${organization} and h.holder = any(${holders}::text[])
        and h.holder = l.holder and h.sellable_id = l.sellable_id and h.warehouse_id = l.warehouse_id),
    ended as (
      update holds set state = ${state}, expires_at = null, updated_at = now()
      where organization_id = ${organization} and holder = any(array(
        select o.holder from (select holder, sum(quantity) as quantity from open group by holder) o
        join (select holder, sum(quantity) as quantity from lines group by holder) l
          on l.holder = o.holder and l.quantity = o.quantity))
        and not exists (select 1 from backorders b
          where b.organization_id = holds.organization_id and b.holder = holds.holder and b.quantity > 0))`

export const movedVersions = (sql: SqlClient.SqlClient, organization: string) =>
  sql`locked as materialized (
      select sellable_id from stock_items
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from lines))
      order by sellable_id for update),
    moved as (
      update stock_items set version = version + 1
      where organization_id = ${organization} and sellable_id = any(array(select sellable_id from locked)))`

export const notedLines = (
  sql: SqlClient.SqlClient,
  organization: string,
  levels: string,
  movement: {
    readonly type: "fulfillment" | "release" | "return"
    readonly quantity: string
    readonly reference: { readonly type: string; readonly id: string | Statement.Fragment }
    readonly reason: string | null
  }
) =>
  sql`noted as (
      insert into stock_movements ${
    stockMovements.insert(sql, {
      id: "gen_random_uuid()",
      organizationId: sql`${organization}`,
      entityId: "s.entity_id",
      variantId: "s.variant_id",
      warehouseId: "l.warehouse_id",
      type: sql`${movement.type}`,
      quantity: movement.quantity,
      referenceType: movement.reference.type,
      referenceId: movement.reference.id,
      reason: sql`${movement.reason}::text`,
      unitCost: movement.type === "release" ? "null" : costOf("s")
    })
  } from lines l join ${sql(levels)} s on s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id)`

export const releaseStock = (sql: SqlClient.SqlClient, organization: string, reason: string) =>
  sql`${movedVersions(sql, organization)},
    freed as (
      update stock_levels s set reserved = s.reserved - l.quantity, updated_at = now(),
        allow_negative = s.reserved - l.quantity > s.on_hand
      from (select sellable_id, warehouse_id, sum(quantity)::int4 as quantity from lines
        group by sellable_id, warehouse_id) l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable_id from locked))
        and s.sellable_id = l.sellable_id and s.warehouse_id = l.warehouse_id
      returning s.*, l.quantity as units),
    ${
    notedLines(sql, organization, "freed", {
      type: "release",
      quantity: "l.quantity",
      reference: {
        type: "case when l.holder like 'manual:%' then 'order' else 'checkout' end",
        id: "regexp_replace(l.holder, '^manual:', '')"
      },
      reason
    })
  }`

export interface Returning {
  readonly organization: string
  readonly holder: string
  readonly sellable: string
  readonly warehouseId: WarehouseId | null
  readonly quantity: number
  readonly reason: string
}

export const returnUnits = (sql: SqlClient.SqlClient, returning: Returning) => {
  const { holder, organization, quantity, reason, sellable, warehouseId } = returning
  return sql`held as materialized (
      select l.*, sum(l.quantity) over (order by w.priority desc, w.id desc) - l.quantity as earlier
      from hold_lines l join warehouses w on w.id = l.warehouse_id
      where l.organization_id = ${organization} and l.holder = ${holder} and l.sellable_id = ${sellable}::uuid
        and (${warehouseId}::uuid is null or l.warehouse_id = ${warehouseId}::uuid)),
    lines as materialized (
      select holder, sellable_id, warehouse_id, least(quantity, ${quantity}::int4 - earlier)::int4 as quantity
      from held where quantity > 0 and ${quantity}::int4 > earlier),
    ${releaseStock(sql, organization, reason)},
    left_over as (update hold_lines h set quantity = h.quantity - l.quantity from lines l
      where h.organization_id = ${organization} and h.holder = ${holder} and h.sellable_id = l.sellable_id
        and h.warehouse_id = l.warehouse_id)`
}

export interface UnitAllocation {
  readonly organization: string
  readonly holder: string
  readonly orderId: string
  readonly entityId: EntityId
  readonly sellable: string
  readonly performedBy: string | null
  readonly allocations: ReadonlyArray<StockAllocation>
}

/** CTEs: moves the version, reserves units (`taken`), holds them and records movements. `no_oversell` is the guard. */
export const allocateUnits = (sql: SqlClient.SqlClient, taking: UnitAllocation) => {
  const { allocations, entityId, holder, orderId, organization, performedBy, sellable } = taking
  return sql`lines as materialized (
      select l.*, ${sellable}::uuid as sellable_id from unnest(${allocations.map(() => newId())}::uuid[],
        ${allocations.map(({ warehouseId }) => warehouseId)}::uuid[],
        ${allocations.map(({ quantity }) => quantity)}::int4[]) l(id, warehouse_id, quantity)),
    moved as (update stock_items set version = version + 1
      where organization_id = ${organization} and sellable_id = ${sellable}::uuid),
    taken as (update stock_levels s set reserved = s.reserved + l.quantity, updated_at = now() from lines l
      where s.organization_id = ${organization} and s.sellable_id = ${sellable}::uuid
        and s.warehouse_id = l.warehouse_id returning s.*, l.quantity as units),
    kept as (${holdUnits(sql, organization, holder, "lines")}),
    noted as (insert into stock_movements ${
    stockMovements.insert(sql, {
      id: "id",
      organizationId: sql`${organization}`,
      entityId: sql`${entityId}::uuid`,
      variantId: sql`nullif(${sellable}::uuid, ${entityId}::uuid)`,
      warehouseId: "warehouse_id",
      type: "'reservation'",
      quantity: "quantity",
      referenceType: "'order'",
      referenceId: sql`${orderId}`,
      performedBy: sql`${performedBy}::text`
    })
  } from lines)`
}
