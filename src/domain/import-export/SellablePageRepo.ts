import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { isoTime } from "../events/JournalRepo.ts"

/** Records of what a page of entities has, and the slug of the last one; undefined behind the last page. */
export interface SellablePage {
  readonly records: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly last: string | undefined
}

/** Reads prices and stock from one end of the catalog to the other, as files carry them. */
export class SellablePageRepo extends Context.Service<SellablePageRepo, {
  /** Prices of so many entities behind a slug; one statement. */
  readonly prices: (after: string, limit: number) => Effect.Effect<SellablePage, never, CurrentActor>
  /** Stock of so many entities behind a slug; one statement. */
  readonly stock: (after: string, limit: number) => Effect.Effect<SellablePage, never, CurrentActor>
}>()("stoa/domain/import-export/SellablePageRepo") {
  static readonly layer = Layer.effect(SellablePageRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

/** SQL of the variant's name in a row `x`. */
const named =
  `(select v.sku from variants v where v.id = x.variant_id and v.organization_id = x.organization_id) as sku,
  (select jsonb_object_agg(t.name, w.value) from variant_option_values o
    join option_values w on w.id = o.option_value_id join option_types t on t.id = w.option_type_id
    where o.variant_id = x.variant_id and o.organization_id = x.organization_id) as options`

const prices = `x.currency, x.amount, x.compare_at_amount as "compareAtAmount",
  g.name as "customerGroup",
  case when g.id is null then x.customer_group_id end as "customerGroupId",
  x.min_quantity as "minQuantity", x.max_quantity as "maxQuantity", ${isoTime("x.valid_from")} as "validFrom",
  ${isoTime("x.valid_until")} as "validUntil", x.metadata`

const groupOfPrice = `left join customer_groups g on g.organization_id = x.organization_id
  and g.id::text = x.customer_group_id`

const priceOrder = `x.currency, "customerGroup" nulls first, "customerGroupId" nulls first,
  x.min_quantity nulls first, x.max_quantity nulls first, x.valid_from nulls first, x.valid_until nulls first`

const stock = `w.code as warehouse, x.on_hand as "onHand", x.reserved, x.on_hand - x.reserved as available,
  x.unit_cost as "unitCost", x.reorder_threshold as "reorderThreshold", x.reorder_quantity as "reorderQuantity"`

interface Row {
  readonly slug: string
  readonly records: ReadonlyArray<Readonly<Record<string, unknown>>> | null
}

interface Thing {
  readonly name: "prices" | "stock"
  readonly table: string
  readonly select: string
  readonly join: string
  readonly order: string
}

const things: { readonly [N in Thing["name"]]: Thing } = {
  prices: { name: "prices", table: "prices", select: prices, join: groupOfPrice, order: priceOrder },
  stock: {
    name: "stock",
    table: "stock_levels",
    select: stock,
    join: "join warehouses w on w.id = x.warehouse_id and w.organization_id = x.organization_id",
    order: "w.code"
  }
}

const make = (sql: SqlClient.SqlClient): SellablePageRepo["Service"] => {
  const pageOf = ({ join, name, order, select, table }: Thing) =>
    Effect.fn(`SellablePageRepo.${name}`)(function*(after: string, limit: number) {
      const organization = yield* currentOrganization
      const rows = yield* sql<Row>`select e.slug, (select jsonb_agg(to_jsonb(r)) from (
          select e.slug, ${sql.literal(named)}, ${sql.literal(select)}
          from ${sql.literal(table)} x ${sql.literal(join)}
          where x.organization_id = e.organization_id and x.entity_id = e.id
          order by sku nulls first, options nulls first, ${sql.literal(order)}) r) as records
        from (select id, slug, organization_id from catalog_entities
          where organization_id = ${organization} and slug > ${after} order by slug limit ${limit}) e
        order by e.slug`
      const page: SellablePage = {
        records: rows.flatMap(({ records }) => records ?? []),
        last: rows.at(-1)?.slug
      }
      return page
    }, Effect.orDie)

  return { prices: pageOf(things.prices), stock: pageOf(things.stock) }
}
