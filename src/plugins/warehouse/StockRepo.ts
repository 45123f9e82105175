import { Schema } from "effect"
import { EntityId, OrderId, rowsOf, statement, timestamp, VariantId, WarehouseId } from "stoa/plugin"

/** Goods of a line. */
export interface StockLine {
  readonly entityId: EntityId
  readonly variantId?: VariantId | null | undefined
}

const stock = rowsOf(Schema.Struct({
  isEntity: Schema.Boolean,
  isVariant: Schema.Boolean,
  onHand: Schema.Int,
  /** Of a unit, in minor units with their decimals; 0 where it is unknown. */
  unitCost: Schema.String,
  /** Counts that adjusted them. */
  adjustments: Schema.Int
}))

/** What a warehouse has of each line, and whether its goods are the organization's. */
export const stockOf = statement(
  "Stock.of",
  function*(sql, organizationId, warehouseId: WarehouseId, lines: ReadonlyArray<StockLine>) {
    const given = lines.map(({ entityId: entity, variantId: variant }, n) => ({ n, entity, variant }))
    // Each line is looked up by its keys in any plan.
    return yield* stock(sql`select e.known is not null as "isEntity",
        t.variant is null or v.known is not null as "isVariant", coalesce(l.quantity_on_hand, 0) as "onHand",
        coalesce(l.average_cost, 0)::text as "unitCost",
        (select count(*)::int from reconciliation_items i
          join stock_reconciliations r on r.id = i.reconciliation_id and r.warehouse_id = ${warehouseId}::uuid
          where r.organization_id = ${organizationId} and i.adjustment_made and i.entity_id = t.entity
            and i.variant_id is not distinct from t.variant) as adjustments
      from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) t (n int, entity uuid, variant uuid)
        left join lateral (select true as known from plugin_entities
          where organization_id = ${organizationId} and id = t.entity limit 1) e on true
        left join lateral (select true as known from plugin_variants
          where organization_id = ${organizationId} and id = t.variant and entity_id = t.entity limit 1) v on true
        left join lateral (select quantity_on_hand, average_cost from plugin_stock_levels
          where organization_id = ${organizationId} and warehouse_id = ${warehouseId}::uuid and entity_id = t.entity
            and variant_id is not distinct from t.variant limit 1) l on true
      order by t.n`)
  }
)

/** Tells the next posting of the transaction which batches leave. */
export const nameLots = statement("Stock.nameLots", function*(sql, _organizationId, named: ReadonlyArray<object>) {
  yield* sql`select set_config('stoa.lots_named', ${JSON.stringify(named)}, true)`
})

const toCount = rowsOf(
  Schema.Struct({ entityId: EntityId, variantId: Schema.NullOr(VariantId), itemName: Schema.String })
)

/** Goods to count: the named ones, else goods that were not counted for so many days, by their worth. */
export const goodsToCount = statement(
  "Stock.goodsToCount",
  function*(
    sql,
    organizationId,
    warehouseId: WarehouseId,
    named: ReadonlyArray<StockLine> | undefined,
    days: number,
    limit: number
  ) {
    const given = named?.map(({ entityId: entity, variantId: variant }, turn) => ({ turn, entity, variant }))
    const goods = given !== undefined
      ? sql`select turn, entity, variant from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
          t (turn int, entity uuid, variant uuid)`
      : sql`select -l.quantity_on_hand * coalesce(l.average_cost, 0) as turn, l.entity_id as entity, l.variant_id as variant
        from plugin_stock_levels l
        where l.organization_id = ${organizationId} and l.warehouse_id = ${warehouseId}::uuid and not exists (
          select from stock_reconciliations r join reconciliation_items i on i.reconciliation_id = r.id
          where r.organization_id = ${organizationId} and r.warehouse_id = ${warehouseId}::uuid
            and i.entity_id = l.entity_id and i.variant_id is not distinct from l.variant_id
            and (r.status in ('draft', 'counting', 'submitted')
              or r.status in ('approved', 'adjusted') and r.counted_at > now() - make_interval(days => ${days}::int)))
        order by 1, 2, 3 limit ${limit}`
    return yield* toCount(sql`select entity as "entityId", variant as "variantId", coalesce((
          select title from plugin_entity_titles where organization_id = ${organizationId} and entity_id = entity
          order by locale limit 1), entity::text) as "itemName"
      from (${goods}) chosen order by turn, entity, variant`)
  }
)

const withheld = rowsOf(Schema.Struct({
  id: Schema.String,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  warehouseId: WarehouseId,
  withheld: Schema.Int,
  units: Schema.Int
}))

/** Blocked lots of named batches that must leave, because others have too little, with the reserved units to end. */
export const withheldUnits = statement("Stock.withheld", function*(sql, organizationId, named: ReadonlyArray<object>) {
  return yield* withheld(sql`with lot as (
      select l.*, n.units - sum(case when l.is_blocked then 0 else l.quantity end) over batch as missing,
        coalesce(sum(l.withheld) over (batch order by l.expiry_date, l.created_at, l.id) - l.withheld, 0) as earlier
      from jsonb_to_recordset(${JSON.stringify(named)}::jsonb) n (sellable uuid, warehouse uuid, batch text, units int)
        join warehouse_lots l on l.organization_id = ${organizationId} and coalesce(l.variant_id, l.entity_id) = n.sellable
          and l.warehouse_id = n.warehouse and l.batch_number = n.batch and l.quantity > 0
      window batch as (partition by n.sellable, n.warehouse, n.batch))
    select id, entity_id as "entityId", variant_id as "variantId", warehouse_id as "warehouseId", withheld,
      least(withheld, missing - earlier)::int as units
    from lot where withheld > 0 and missing > earlier order by coalesce(variant_id, entity_id), id`)
})

const claims = rowsOf(Schema.Struct({
  /** Units on hand that no other lot claims. */
  unclaimed: Schema.Int,
  /** Units that can be sold; none in a warehouse that is closed. */
  forSale: Schema.Int
}))

interface Place {
  readonly id: string
  readonly entityId: EntityId
  readonly variantId: VariantId | null
  readonly warehouseId: WarehouseId
}

/** Bounds of a lot's quantity. `lock` locks the stock of its goods: no movement changes lots meanwhile. */
export const unclaimedOf = statement("Stock.unclaimed", function*(sql, organizationId, lot: Place, lock: boolean) {
  const { entityId, id, variantId, warehouseId } = lot
  const same = sql`organization_id = ${organizationId} and entity_id = ${entityId}::uuid
    and variant_id is not distinct from ${variantId}::uuid and warehouse_id = ${warehouseId}::uuid`
  if (lock) yield* sql`select 1 from plugin_stock_levels where ${same} for update`
  // A statement that waited for the lock would read old lots.
  const [found] = yield* claims(sql`select
      coalesce((select quantity_on_hand from plugin_stock_levels where ${same}), 0)
        - coalesce((select sum(quantity)::int from warehouse_lots where ${same} and id <> ${id}::uuid), 0) as unclaimed,
      coalesce((select greatest(quantity_on_hand - quantity_reserved, 0) from plugin_stock_levels s
        join plugin_warehouses w on w.id = s.warehouse_id and w.is_active
        where s.organization_id = ${organizationId} and s.entity_id = ${entityId}::uuid
          and s.variant_id is not distinct from ${variantId}::uuid and s.warehouse_id = ${warehouseId}::uuid), 0) as "forSale"`)
  return found ?? { unclaimed: 0, forSale: 0 }
})

const totals = rowsOf(Schema.Struct({ total: Schema.Int }))
const recalled = rowsOf(Schema.Struct({
  orderId: OrderId,
  orderNumber: Schema.String,
  email: Schema.NullOr(Schema.String),
  units: Schema.Int,
  shippedAt: timestamp.schema
}))

/** Orders that goods of a lot's batch went to, the last ones first, from whichever warehouse. */
export const ordersOfBatch = statement("Stock.ordersOfBatch", function*(
  sql,
  organizationId,
  lot: Place & { readonly batchNumber: string },
  seesEmail: boolean,
  page: { readonly limit: number; readonly offset: number }
) {
  const gone = sql`(select reference_id, sum(quantity)::int as units, max(created_at) as shipped_at
    from warehouse_lot_movements
    where organization_id = ${organizationId} and entity_id = ${lot.entityId}::uuid
      and variant_id is not distinct from ${lot.variantId}::uuid and batch_number = ${lot.batchNumber}
      and reference_type = 'order'
    group by reference_id) g
    join plugin_orders o on o.organization_id = ${organizationId}
      and o.id = case when g.reference_id ~ '^[0-9a-f-]{36}$' then g.reference_id::uuid end`
  const items = yield* recalled(sql`select o.id as "orderId", o.order_number as "orderNumber",
      case when ${seesEmail}::boolean then o.email end as email, g.units, g.shipped_at as "shippedAt"
    from ${gone} order by g.shipped_at desc, o.id limit ${page.limit} offset ${page.offset}`)
  const [counted] = yield* totals(sql`select count(*)::int as total from ${gone}`)
  return { items, total: counted?.total ?? 0 }
})

const named = rowsOf(Schema.Struct({ id: Schema.String, name: Schema.String }))

/** Names of warehouses by their ids. */
export const warehouseNames = statement(
  "Stock.warehouseNames",
  function*(sql, organizationId, ids: ReadonlyArray<WarehouseId>) {
    const rows = yield* named(sql`select id, name from plugin_warehouses
      where organization_id = ${organizationId} and id = any(${ids}::uuid[])`)
    return new Map(rows.map(({ id, name }) => [id, name]))
  }
)
