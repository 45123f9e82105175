import { Schema } from "effect"
import { EntityId, rowsOf, statement, Time, VariantId } from "stoa/plugin"

/** Something to sell, as a till shows it without a connection. */
export const Sellable = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  type: Schema.String,
  slug: Schema.String,
  title: Schema.NullOr(Schema.String),
  sku: Schema.NullOr(Schema.String),
  barcode: Schema.NullOr(Schema.String)
})
export type Sellable = typeof Sellable.Type

const sellables = rowsOf(Sellable)
const position = rowsOf(Schema.Struct({ position: Schema.Int }))
const Changes = Schema.Struct({ isWide: Schema.Boolean, entityIds: Schema.Array(EntityId) })
const changes = rowsOf(Changes)

/** What can be sold, by entity and variant; of these entities, where they are named. */
export const sellablesAfter = statement(
  "Session.sellables",
  function*(sql, organizationId, only: ReadonlyArray<EntityId> | undefined, after: string, limit: number) {
    return yield* sellables(sql`select e.id as "entityId", v.id as "variantId", e.type, e.slug, v.sku, v.barcode,
        (select t.title from plugin_entity_titles t where t.organization_id = e.organization_id and t.entity_id = e.id
          order by t.locale <> 'en', t.locale limit 1) as title
      from plugin_entities e
      left join plugin_variants v on v.organization_id = e.organization_id and v.entity_id = e.id and v.status = 'active'
      where e.organization_id = ${organizationId} and e.status = 'active' and e.is_visible
        and (${only === undefined} or e.id = any(${only ?? []}::uuid[]))
        and e.id || coalesce(v.id::text, '') > ${after}
        and (v.id is not null or not exists (select 1 from plugin_variants o
          where o.organization_id = e.organization_id and o.entity_id = e.id))
      order by e.id || coalesce(v.id::text, '') limit ${limit}`)
  }
)

/** The last change that a till may know of. */
export const lastPosition = statement("Session.position", function*(sql, organizationId) {
  const [row] = yield* position(sql`select coalesce(max(position), 0)::float8 as position from plugin_events
    where organization_id = ${organizationId}`)
  return row?.position ?? 0
})

const windows = rowsOf(Schema.Struct({ ...Changes.fields, next: Schema.NullOr(Time) }))

/**
 * Entities with a price that began or ended between two answers, whether a rule for all prices did, and when the next one
 * does. In either order: clocks of processes differ.
 */
export const windowsBetween = statement("Session.windows", function*(sql, organizationId, since: Date, now: Date) {
  const [row] = yield* windows(sql`with windows (valid_from, valid_until, entity_id) as (
      select valid_from, valid_until, entity_id from plugin_prices
        where organization_id = ${organizationId} and (valid_from is not null or valid_until is not null)
      union all
      select valid_from, valid_until, entity_id from plugin_price_modifiers
        where organization_id = ${organizationId} and (valid_from is not null or valid_until is not null)
      union all
      select valid_from, valid_until, null from plugin_tax_rates where organization_id = ${organizationId} and is_active),
    turns as (
      select entity_id as id, at, at > least(${since}::timestamptz, ${now}::timestamptz)
          and at <= greatest(${since}::timestamptz, ${now}::timestamptz) as is_past
      from windows cross join lateral (values (valid_from), (valid_until)) as turn (at) where at is not null)
    select min(at) filter (where at > ${now}::timestamptz) as next,
      coalesce(bool_or(id is null) filter (where is_past), false) as "isWide",
      coalesce(array_agg(distinct id) filter (where is_past and id is not null), '{}') as "entityIds" from turns`)
  return row ?? { isWide: true, entityIds: [], next: null }
})

/** Entities that have changed since, also by changes that have no position yet, and whether something has that concerns all prices. */
export const changesSince = statement("Session.changes", function*(sql, organizationId, since: number) {
  const [row] = yield* changes(sql`with changed as (
      select type, coalesce(payload->>'entityId', case when entity_type = 'catalog_entity' then entity_id end) as id
      from plugin_events where organization_id = ${organizationId} and (position > ${since} or position is null)
        and type ~ '^(catalog|variants|options|pricing|promotions|taxClasses|taxRates|imports)\\.'
      limit 5001)
    select coalesce(bool_or(id is null), false) or count(*) > 5000 as "isWide",
      coalesce(array_agg(distinct id) filter (where id is not null), '{}')::uuid[] as "entityIds" from changed`)
  return row ?? { isWide: true, entityIds: [] }
})
