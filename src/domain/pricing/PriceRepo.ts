import { Context, Effect, Layer, Schema, String } from "effect"
import { SqlClient } from "effect/sql"
import { EntityNotFound } from "../catalog/Entity.ts"
import { type Actor, CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogRows, isoTime } from "../platform/events/ChangeLogRepo.ts"
import { PriceId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { jsonOf, Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { Price, type PriceFilter } from "./Price.ts"
import { isTargetGone, modifiers, targetOf, TargetRow, UnknownVariant } from "./PriceModifierRepo.ts"

export const prices = new Table("prices", Price)

const SetRow = Schema.Struct({
  ...TargetRow.fields,
  id: Schema.NullOr(PriceId),
  createdAt: Schema.NullOr(Time),
  updatedAt: Schema.NullOr(Time),
  created: Schema.NullOr(Schema.Boolean)
})

/** Concurrent requests collide at the unique natural key: the second writes nothing. */
const inserted = (sql: SqlClient.SqlClient, price: Price) =>
  sql`insert into prices (${sql.literal(prices.names)})
    select new.* from (${prices.values(sql, [price])}) new, target
    where "entityFound" and "variantFound" and not exists (select 1 from old)
    on conflict (organization_id, entity_id, variant_id, currency, customer_group_id, min_quantity, max_quantity,
      valid_from, valid_until) do nothing returning *, true as created`

const updated = (sql: SqlClient.SqlClient, price: Price) =>
  sql`update prices p set amount = ${price.amount}::bigint, compare_at_amount = ${price.compareAtAmount}::bigint,
      metadata = ${JSON.stringify(price.metadata)}::jsonb,
      updated_at = case when (p.amount, p.compare_at_amount, p.metadata) is distinct from (${price.amount}::bigint,
        ${price.compareAtAmount}::bigint, ${JSON.stringify(price.metadata)}::jsonb)
        then ${price.updatedAt}::timestamptz else p.updated_at end
    from target where "entityFound" and "variantFound" and p.id = (select id from old)
      and p.organization_id = ${price.organizationId} returning p.*, false as created`

const overwritten = (sql: SqlClient.SqlClient, price: Price) =>
  sql`select * from prices where organization_id = ${price.organizationId} and entity_id = ${price.entityId}::uuid
    and variant_id is not distinct from ${price.variantId}::uuid and currency = ${price.currency}
    and customer_group_id is not distinct from ${price.customerGroupId}::text
    and min_quantity is not distinct from ${price.minQuantity}::int
    and max_quantity is not distinct from ${price.maxQuantity}::int
    and valid_from is not distinct from ${price.validFrom}::timestamptz
    and valid_until is not distinct from ${price.validUntil}::timestamptz for no key update`

const times = ["validFrom", "validUntil", "createdAt", "updatedAt"]

const priceJson = (row: string) =>
  jsonOf(
    Price.fields,
    row,
    Object.fromEntries(times.map((field) => [field, isoTime(`${row}.${String.camelToSnake(field)}`)]))
  )

const eventOfWritten = (sql: SqlClient.SqlClient, actor: Actor) =>
  changeLogRows(sql, actor, {
    type: { sql: "case when x.created then 'pricing.create' else 'pricing.update' end" },
    entityType: "price",
    entityId: "x.id::text",
    payload: priceJson("x"),
    before: `(select ${priceJson("o")} from old o where not x.created and o.id = x.id)`,
    from: "written x"
  })

const matching = (sql: SqlClient.SqlClient, filter: PriceFilter) => [
  ...(filter.entityId === undefined ? [] : [sql`entity_id = ${filter.entityId}::uuid`]),
  ...(filter.variantId === undefined ? [] : [sql`variant_id = ${filter.variantId}::uuid`]),
  ...(filter.currency === undefined ? [] : [sql`currency = ${filter.currency}`]),
  ...(filter.customerGroupId === undefined ? [] : [sql`customer_group_id = ${filter.customerGroupId}`])
]

const touching = (sql: SqlClient.SqlClient, organization: string, filter: PriceFilter) => {
  const orAny = (column: string, value: string | undefined, type: string) =>
    value === undefined ? [] : [sql`(${sql(column)} is null or ${sql(column)} = ${value}::${sql.literal(type)})`]
  return sql.and([
    sql`organization_id = ${organization}`,
    ...orAny("entity_id", filter.entityId, "uuid"),
    ...orAny("variant_id", filter.variantId, "uuid"),
    ...orAny("currency", filter.currency, "text"),
    ...orAny("customer_group_id", filter.customerGroupId, "text")
  ])
}

export class PriceRepo extends Context.Service<PriceRepo>()("stoa/domain/pricing/PriceRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    /**
     * Overwrites the price of the same natural key, with its event, in one statement. 404 for an unknown entity, 422
     * when the variant is not one of the entity's.
     */
    const set = Effect.fn("PriceRepo.set")(
      function*(price: Price) {
        const actor = yield* CurrentActor
        const statement = decoding(sql, SetRow)`with target as (${targetOf(sql, price)}),
          old as materialized (${overwritten(sql, price)}),
          inserted as (${inserted(sql, price)}), updated as (${updated(sql, price)}),
          written as (select * from inserted union all select * from updated),
          event as (${eventOfWritten(sql, actor)})
          select target.*, written.id, written.created_at as "createdAt", written.updated_at as "updatedAt", written.created
          from target left join written on true`
        for (let tries = 0; tries < 10; tries++) {
          const [row] = yield* statement
          if (row === undefined || !row.entityFound) return yield* new EntityNotFound()
          if (!row.variantFound) return yield* new UnknownVariant()
          const { created, createdAt, id, updatedAt } = row
          if (id === null || createdAt === null || updatedAt === null) continue
          return { price: { ...price, id, createdAt, updatedAt }, created: created === true }
        }
        return yield* Effect.die(new Error("A price is neither new nor there."))
      },
      Effect.catchTag(
        "SqlError",
        (error) => isTargetGone(error) ? Effect.fail(new EntityNotFound()) : Effect.die(error)
      )
    )

    const list = Effect.fn("PriceRepo.list")((filter: PriceFilter, page: PageRequest) =>
      Effect.suspend(() => {
        const only = matching(sql, filter)
        return ownPage(sql, prices, "created_at desc, id desc", page, only, only.length === 0 ? "all" : undefined)
      }).pipe(Effect.orDie)
    )

    const modifiersFor = Effect.fn("PriceRepo.modifiersFor")(function*(filter: PriceFilter) {
      return yield* modifiers.rows(sql)`select ${sql.literal(modifiers.columns())} from price_modifiers
        where ${touching(sql, yield* currentOrganization, filter)} order by priority, id limit 100`
    }, Effect.orDie)

    return { set, list, modifiersFor }
  })
}) {}

export const priceRepoLayer = Layer.effect(PriceRepo, PriceRepo.make)
