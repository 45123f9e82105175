import { Effect } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { stockOf } from "../support/channels/ShopifyProduct.ts"
import type { ShopifyShop } from "../support/channels/ShopifyShop.ts"
import type { WooCommerceShop } from "../support/channels/WooCommerceShop.ts"

/** A product as one side has it. */
export interface Goods {
  readonly title: string
  readonly state: string
  readonly pictures: ReadonlyArray<string>
  /** By their ids at the store: options, price in cents, and units that can be sold. */
  readonly units: Readonly<Record<string, readonly [options: string, price: number, available: number | null]>>
}

/** Our order as one side has it. */
export interface Sale {
  /** Units and cents by ids of the store. */
  readonly lines: Readonly<Record<string, readonly [units: number, cents: number]>>
  readonly sent: Readonly<Record<string, number>>
  readonly tracking: ReadonlyArray<string>
}

const cents = (text: string) => Math.round(Number(text) * 100)
const byKey = <A>(entries: ReadonlyArray<readonly [string, A]>): Readonly<Record<string, A>> =>
  Object.fromEntries(entries.toSorted(([one], [other]) => one < other ? -1 : 1))
const isUsed = ([, units]: readonly [string, number]) => units > 0

const summed = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string, of: (one: A) => number) =>
  [...Map.groupBy(all, keyOf)].map(([key, same]) => [key, same.reduce((sum, one) => sum + of(one), 0)] as const)

/** Those of ours are of these SKUs. */
const isOwn = (sku: string): boolean => sku.startsWith("OWN-")

/** Products that a WooCommerce shows, by their ids, without those of ours. */
export const wooGoods = ({ catalog }: WooCommerceShop) =>
  byKey(
    [...catalog.products.values()].filter(({ fields, parent, trashed }) =>
      parent === 0 && !trashed && ["simple", "variable"].includes(fields.type) && !isOwn(fields.sku)
    ).map((one): readonly [string, Goods] => {
      const { fields, id } = one
      const units = fields.type === "variable" ? catalog.variationsOf(id) : [one]
      return [`${id}`, {
        title: fields.name,
        state: fields.status === "publish" ? "active true" : "draft false",
        pictures: fields.images.map(({ src }) => src),
        units: byKey(units.map((unit) => [
          unit.parent === 0 ? `${unit.id}` : `${unit.parent}/${unit.id}`,
          [
            unit.parent === 0 ? "" : unit.fields.attributes.map(({ name, option }) => `${name}=${option}`).join(),
            cents(unit.fields.regular_price),
            Math.max(0, unit.fields.stock_quantity ?? 0)
          ]
        ]))
      }]
    })
  )

/** Products of a Shopify, by their ids, without those of ours. */
export const shopifyGoods = ({ catalog }: ShopifyShop) =>
  byKey(
    [...catalog.products.values()].filter(({ variants }) => !variants.some(({ sku }) => isOwn(sku))).map((
      { fields, id, images, options, variants }
    ): readonly [string, Goods] => [`${id}`, {
      title: fields.title,
      state: `${fields.status.toLowerCase()} ${fields.published}`,
      pictures: images.map(({ url }) => url),
      units: byKey(variants.map((one) => [
        `${one.id}`,
        [
          options[0]?.name === "Title" ? "" : one.options.map((value, at) => `${options[at]?.name}=${value}`).join(),
          one.price,
          one.tracked ? stockOf(one) : null
        ]
      ]))
    }])
  )

/** Products of a store as they are here, by the store's ids; those that are gone there by themselves. */
export const goodsHere = Effect.fnUntraced(function*(url: string, storeId: string) {
  const rows = yield* onDatabase(
    url,
    (sql) =>
      sql<{ id: string; goods: Goods; gone: boolean; listed: number }>`with units as (
      select map.entity_id, map.variant_id, map.external_id, map.gone_at,
        coalesce((select string_agg(type.display_name || '=' || value.display_value, ',' order by type.sort_order)
          from variant_option_values chosen join option_values value on value.id = chosen.option_value_id
            join option_types type on type.id = value.option_type_id where chosen.variant_id = map.variant_id), '') as options,
        (select sum(amount)::int from prices where entity_id = map.entity_id
          and variant_id is not distinct from map.variant_id and currency = 'EUR') as price,
        case when coalesce(variant.manage_inventory, entity.manage_inventory) then coalesce((select
          sum(on_hand - reserved)::int from stock_levels where sellable_id = coalesce(map.variant_id, map.entity_id)), 0)
        end as available
      from channel_entity_map map
        left join plugin_variants variant on variant.id = map.variant_id
        join plugin_entities entity on entity.id = map.entity_id
      where map.kind = 'variant' and map.store_id = ${storeId})
    select map.external_id as id, map.gone_at is not null as gone, (select count(*)::int from catalog_entities other
        where other.source_store_id = ${storeId}) as listed,
      json_build_object('title', (select title from entity_attributes where entity_id = entity.id),
        'state', entity.status || ' ' || entity.is_visible,
        'pictures', coalesce((select json_agg(picture->>'src') from jsonb_array_elements(entity.metadata->'images') picture),
          '[]'),
        'units', (select json_object_agg(external_id, json_build_array(options, price, available) order by external_id)
          from units where entity_id = entity.id)) as goods
    from channel_entity_map map join catalog_entities entity on entity.id = map.entity_id
    where map.kind = 'entity' and map.store_id = ${storeId} and not map.is_linked order by map.external_id`
  )
  return rows
})

/** Units of our products that can be sold, by their ids at the store. */
export const wooStockOfOurs = ({ catalog }: WooCommerceShop) =>
  byKey(
    [...catalog.products.values()].filter(({ fields, trashed }) => !trashed && isOwn(fields.sku))
      .map(({ fields, id }) => [`${id}`, Math.max(0, fields.stock_quantity ?? 0)] as const)
  )
export const shopifyStockOfOurs = ({ catalog }: ShopifyShop) =>
  byKey(
    catalog.variants().filter(({ sku }) => isOwn(sku)).map((one) => [`${one.id}`, Math.max(0, stockOf(one))] as const)
  )

/** The same as it is here. */
export const stockOfOurs = Effect.fnUntraced(function*(url: string, storeId: string) {
  const rows = yield* onDatabase(
    url,
    (sql) =>
      sql<
        { id: string; units: number }
      >`select map.external_id as id, greatest(0, sum(on_hand - reserved))::int as units
      from channel_entity_map map join stock_levels level on level.sellable_id = coalesce(map.variant_id, map.entity_id)
      where map.kind = 'variant' and map.store_id = ${storeId} and map.is_linked and map.gone_at is null
      group by map.external_id`
  )
  return byKey(rows.map(({ id, units }) => [id, units] as const))
})

/** Our orders at a WooCommerce. */
export const wooSales = ({ orders }: WooCommerceShop) =>
  [...orders.orders.values()].flatMap((order) => {
    const orderId = order.input.meta_data?.find(({ key }) => key === "stoa_order_id")?.value
    if (orderId === undefined) return []
    const idOf = (line: (typeof order.lines)[number]) =>
      line.variation_id === 0 ? `${line.product_id}` : `${line.product_id}/${line.variation_id}`
    const given = order.refunds.flatMap(({ lines }) => lines)
    const back = new Map(summed(given, ({ line }) => idOf(line), ({ quantity }) => quantity))
    const units = summed(order.lines, idOf, ({ quantity }) => quantity)
    const money = new Map(summed(order.lines, idOf, ({ total }) => total))
    const sale: Sale = {
      lines: byKey(units.map(([id, quantity]) => [id, [quantity, money.get(id) ?? 0]])),
      sent: order.completed === null
        ? {}
        : byKey(units.map(([id, quantity]) => [id, quantity - (back.get(id) ?? 0)] as const).filter(isUsed)),
      tracking: []
    }
    const isCancelled = order.status === "cancelled"
    // A WooCommerce that cancels gives nothing back by itself.
    const refunded = isCancelled
      ? [...money.values()].reduce((sum, total) => sum + total, 0)
      : order.refunds.reduce((sum, { amount }) => sum + amount, 0)
    return [{ orderId: String(orderId), sale, isCancelled, refunded }]
  })

/** Our orders at a Shopify. */
export const shopifySales = ({ orders }: ShopifyShop) =>
  [...orders.orders.values()].flatMap(({ cancelled, fulfillments, input, lines, refunds }) => {
    const [orderId] = input.tags ?? []
    if (orderId === undefined) return []
    const idOf = (line: (typeof lines)[number]) => `${line.variant?.id}`
    const money = new Map(summed(lines, idOf, ({ price, quantity }) => price * quantity))
    const parts = fulfillments.flatMap((one) => one.parts)
    const sale: Sale = {
      lines: byKey(
        summed(lines, idOf, ({ quantity }) => quantity).map(([id, quantity]) => [id, [quantity, money.get(id) ?? 0]])
      ),
      sent: byKey(summed(parts, ({ line }) => idOf(line), ({ quantity }) => quantity).filter(isUsed)),
      tracking: fulfillments.flatMap(({ tracking }) => tracking.number ?? []).toSorted()
    }
    const refunded = refunds.reduce((sum, { amount }) => sum + amount, 0)
    return [{ orderId, sale, isCancelled: cancelled !== null, refunded }]
  })

/** An order of a store's goods as it is here. */
export interface SaleHere extends Sale {
  readonly orderId: string
  readonly status: string
  readonly state: string | null
  readonly note: string | null
  /** Of the whole order. */
  readonly refunded: number
  readonly total: number
  /** Units of the store that are neither sent nor refunded. */
  readonly open: number
}

/** Paid orders of goods of a store. */
export const salesHere = (url: string, storeId: string) =>
  onDatabase(url, (sql) =>
    sql<SaleHere>`with parts as (
      select line.order_id, line.id, map.external_id, line.quantity, line.total_price - line.discount_amount as money,
        line.refunded_quantity, coalesce((select sum(part.quantity)::int from fulfillment_lines part
          join fulfillments parcel on parcel.id = part.fulfillment_id and parcel.status <> 'cancelled'
          where part.order_line_id = line.id), 0) as sent
      from order_lines line join lateral (select min(external_id) as external_id from channel_entity_map where kind = 'variant'
        and not is_linked and store_id = ${storeId} and entity_id = line.entity_id and variant_id is not distinct from line.variant_id) map
        on map.external_id is not null),
    units as (select order_id, external_id, sum(quantity)::int as quantity, sum(money)::int as money, sum(sent)::int as sent
      from parts group by order_id, external_id)
    select placed.id as "orderId", placed.status, export.state, export.last_error as note,
      placed.refunded_total::int as refunded, placed.amount_captured::int as total,
      (select json_object_agg(external_id, json_build_array(quantity, money) order by external_id)
        from units where order_id = placed.id) as lines,
      coalesce((select json_object_agg(external_id, sent order by external_id) from units
        where order_id = placed.id and sent > 0), '{}') as sent,
      coalesce((select json_agg(tracking_number order by tracking_number) from fulfillments parcel
        where order_id = placed.id and tracking_number is not null and exists (select 1 from fulfillment_lines part
          join parts on parts.id = part.order_line_id where part.fulfillment_id = parcel.id)), '[]') as tracking,
      (select sum(greatest(0, quantity - sent - refunded_quantity))::int from parts where order_id = placed.id) as open
    from orders placed left join channel_order_exports export
      on export.order_id = placed.id and export.store_id = ${storeId}
    where placed.amount_captured is not null and exists (select 1 from units where order_id = placed.id)
    order by placed.placed_at`)

/** A hash of the rows of each table in their versions, without what notes a look or sums up later. */
export const written = Effect.fnUntraced(function*(url: string) {
  const tables = yield* onDatabase(
    url,
    (sql) =>
      sql<{ name: string }>`select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'channel_runs'
        and table_name !~ '^(cluster|commerce_jobs|job_|list_|worker|schedul)' order by 1`
  )
  const hashes = yield* Effect.forEach(tables, ({ name }) =>
    onDatabase(url, (sql) => {
      const row = name === "channel_entity_map" ? sql`to_jsonb(t) - 'seen_at'` : sql`jsonb_build_array(t.xmin::text, t)`
      return sql<
        { hash: string | null }
      >`select md5(string_agg(seen.content::text, ' ' order by seen.content::text)) as hash
        from ${sql(name)} t cross join lateral (select ${row} as content) seen`
    }).pipe(Effect.map(([row]) => [name, row?.hash ?? null] as const)))
  return Object.fromEntries(hashes)
})
