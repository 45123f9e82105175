import type { SqlClient, Statement } from "effect/sql"
import { nilId, type WarehouseId } from "../platform/ids/Id.ts"
import type { HoldState, Reservation, ReservationLine, StockSnapshot } from "./StockRules.ts"
import { backorders, holdLines, holds, stockMovements } from "./StockTables.ts"

interface LevelRow {
  readonly sellable_id: string
  readonly version: bigint
  readonly backordered: number
  readonly warehouse_id: WarehouseId | null
  readonly priority: number | null
  readonly available: number | null
}

export const stockStatement = (sql: SqlClient.SqlClient, organization: string, sellables: ReadonlyArray<string>) =>
  sql<LevelRow>`select i.sellable_id, i.version, i.backordered, l.warehouse_id, l.priority, l.available
    from stock_items i left join (
      select s.sellable_id, s.warehouse_id, w.priority, s.on_hand - s.reserved as available
      from stock_levels s join warehouses w on w.id = s.warehouse_id and w.is_active
      where s.organization_id = ${organization} and s.sellable_id = any(${sellables}::uuid[])) l
      on l.sellable_id = i.sellable_id
    where i.organization_id = ${organization} and i.sellable_id = any(${sellables}::uuid[])`

export interface HoldRow {
  readonly holder: string
  readonly state: HoldState
  readonly pricing: string | null
}

export const holdsStatement = (sql: SqlClient.SqlClient, organization: string, holders: ReadonlyArray<string>) =>
  sql<HoldRow>`select holder, state, pricing::text as pricing from holds
    where organization_id = ${organization} and holder = any(${holders}::text[])`

interface OutcomeRow {
  readonly stale: ReadonlyArray<string>
  readonly fresh: ReadonlyArray<string>
  readonly had: ReadonlyArray<HoldRow>
}

interface HeldLine extends ReservationLine {
  readonly id: string
  readonly holder: string
}

const rowsOf = (sql: SqlClient.SqlClient, organization: string) => ({
  hold: holds.insert(sql, {
    organizationId: sql`${organization}`,
    holder: "a.holder",
    state: "'held'",
    expiresAt: "now() + a.ttl * interval '1 second'",
    pricing: "a.pricing::jsonb"
  }),
  line: holdLines.insert(sql, {
    organizationId: sql`${organization}`,
    holder: "holder",
    sellableId: "sellable",
    warehouseId: "warehouse",
    quantity: "quantity"
  }),
  wait: backorders.insert(sql, {
    organizationId: sql`${organization}`,
    holder: "holder",
    sellableId: "sellable",
    quantity: "quantity"
  }),
  movement: stockMovements.insert(sql, {
    id: "id",
    organizationId: sql`${organization}`,
    entityId: "entity",
    variantId: "nullif(sellable, entity)",
    warehouseId: "warehouse",
    type: "'reservation'",
    quantity: "quantity",
    referenceType: "'checkout'",
    referenceId: "holder"
  })
})

/** Books the units of a batch that wait for stock. */
const waits = (sql: SqlClient.SqlClient, lines: ReadonlyArray<HeldLine>, row: Statement.Fragment) =>
  lines.every(({ warehouseId }) => warehouseId !== null) ? { more: sql``, kept: sql`` } : {
    more: sql`, backordered = backordered + coalesce((select sum(quantity)::int4 from lines
      where warehouse is null and lines.sellable = sellable_id), 0)`,
    kept: sql`waiting as (
      insert into backorders ${row} from (
        select holder, sellable, sum(quantity)::int4 as quantity from lines where warehouse is null
        group by holder, sellable) w),`
  }

/**
 * The group commit of the stock entity. Locking the existing holds waits for a running release. One outdated version
 * stops the batch. The insert finds new holds by `on conflict`.
 */
export const reserveStatement = (
  sql: SqlClient.SqlClient,
  organization: string,
  fences: ReadonlyArray<StockSnapshot>,
  reservations: ReadonlyArray<Reservation>,
  lines: ReadonlyArray<HeldLine>
) => {
  const holders = reservations.map(({ holder }) => holder)
  const sellables = fences.map(({ sellable }) => sellable)
  const rows = rowsOf(sql, organization)
  const waiting = waits(sql, lines, rows.wait)
  return sql<OutcomeRow>`with had as materialized (
      select holder, state, pricing::text as pricing from holds
      where organization_id = ${organization} and holder = any(${holders}::text[]) order by holder for update),
    locked as materialized (
      select sellable_id, version from stock_items
      where organization_id = ${organization} and sellable_id = any(${sellables}::uuid[])
        and (select count(*) from had) >= 0
      order by sellable_id for update),
    stale as (
      select f.sellable
      from unnest(${sellables}::uuid[], ${fences.map(({ version }) => version ?? -1)}::int8[]) f(sellable, version)
      left join locked on locked.sellable_id = f.sellable
      where locked.version is distinct from f.version),
    fresh as (
      insert into holds ${rows.hold} from unnest(${holders}::text[], ${
    reservations.map(({ ttlSeconds }) => ttlSeconds)
  }::int4[],
        ${reservations.map(({ pricing }) => pricing)}::text[]) a(holder, ttl, pricing)
      where not exists (select 1 from stale) and not exists (select 1 from had where had.holder = a.holder)
      order by a.holder
      on conflict (organization_id, holder) do nothing
      returning holder),
    lines as materialized (
      select l.*, nullif(l.place, ${nilId}::uuid) as warehouse from unnest(${lines.map(({ id }) => id)}::uuid[], ${
    lines.map(({ holder }) => holder)
  }::text[],
        ${lines.map(({ sellable }) => sellable)}::uuid[], ${lines.map(({ entityId }) => entityId)}::uuid[],
        ${lines.map(({ warehouseId }) => warehouseId ?? nilId)}::uuid[], ${
    lines.map(({ quantity }) => quantity)
  }::int4[]
      ) l(id, holder, sellable, entity, place, quantity) join fresh on fresh.holder = l.holder),
    moved as (
      update stock_items set version = version + 1${waiting.more}
      where organization_id = ${organization} and sellable_id = any(array(select sellable from lines))),
    ${waiting.kept}
    taken as (
      update stock_levels s set reserved = s.reserved + l.quantity, updated_at = now()
      from (select sellable, warehouse, sum(quantity)::int4 as quantity from lines group by sellable, warehouse) l
      where s.organization_id = ${organization} and s.sellable_id = any(array(select sellable from lines))
        and s.sellable_id = l.sellable and s.warehouse_id = l.warehouse),
    kept as (
      insert into hold_lines ${rows.line} from lines where warehouse is not null),
    noted as (
      insert into stock_movements ${rows.movement} from lines where warehouse is not null)
    select (select coalesce(array_agg(sellable), '{}') from stale) as stale,
      (select coalesce(array_agg(holder), '{}') from fresh) as fresh,
      (select coalesce(jsonb_agg(to_jsonb(had)), '[]') from had) as had`
}
