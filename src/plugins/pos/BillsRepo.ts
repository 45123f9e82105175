import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"

const parts = rowsOf(Schema.Struct({ of: Schema.String, id: Schema.String, status: Schema.Literals(["open", "held"]) }))

/** The open and held transactions of bills: their splits, and what they were merged into. One statement. */
export const openPartsOf = statement("Bills.openParts", function*(sql, organizationId, ids: ReadonlyArray<string>) {
  return yield* parts(sql`with recursive bills (origin, id) as (
      select one, one from unnest(${ids}::uuid[]) one
      union
      select bills.origin, following.id from bills cross join lateral (
        select split.id from pos_transactions split
        where split.organization_id = ${organizationId} and split.parent_id = bills.id
        union all
        select merged.merged_into_id from pos_transactions merged
        where merged.organization_id = ${organizationId} and merged.id = bills.id and merged.merged_into_id is not null
      ) following)
    select bills.origin as "of", part.id, part.status from bills
    join pos_transactions part on part.organization_id = ${organizationId} and part.id = bills.id
    where part.status in ('open', 'held')
    order by part.id`)
})

const sources = rowsOf(Schema.Struct({ of: Schema.String, id: Schema.String, isFar: Schema.Boolean }))

/**
 * The transactions that goods of these may come from: themselves, what they were split from, and what was merged into them.
 * `isFar`: goods of another split of it. One statement.
 */
export const sourcesOf = statement("Bills.sources", function*(sql, organizationId, ids: ReadonlyArray<string>) {
  return yield* sources(sql`with recursive bills (origin, id, is_merged, is_far) as (
      select one, one, false, false from unnest(${ids}::uuid[]) one
      union
      select bills.origin, former.id, bills.is_merged or former.is_merged,
        bills.is_far or (bills.is_merged and not former.is_merged)
      from bills cross join lateral (
        select split.parent_id as id, false as is_merged from pos_transactions split
        where split.organization_id = ${organizationId} and split.id = bills.id and split.parent_id is not null
        union all
        select merged.id, true from pos_transactions merged
        where merged.organization_id = ${organizationId} and merged.merged_into_id = bills.id
      ) former)
    select origin as "of", id, bool_and(is_far) as "isFar" from bills group by origin, id order by id`)
})
