import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../../access/Actor.ts"
import type { Conflict } from "../../errors/ApiErrors.ts"
import { journalRows } from "../../events/JournalRepo.ts"
import { newId } from "../../ids/Id.ts"
import { offsetOf, type PageOf, type PageRequest, wholeList } from "../../paging/Paging.ts"
import { conflictOn } from "../UniqueRepo.ts"
import type { Brand, BrandChange, NewBrand } from "./Brand.ts"

/** The brands of an organization. */
export class BrandRepo extends Context.Service<BrandRepo, {
  /** By display name; without a page all of them. */
  readonly list: (page: PageRequest | undefined) => Effect.Effect<PageOf<Brand>, never, CurrentActor>
  readonly create: (input: NewBrand) => Effect.Effect<Brand, Conflict, CurrentActor>
  /** Undefined when there is no such brand. */
  readonly update: (id: string, change: BrandChange) => Effect.Effect<Brand | undefined, Conflict, CurrentActor>
  /** Its entities are detached. False: there was none. */
  readonly remove: (id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/catalog/brands/BrandRepo") {
  static readonly layer = Layer.effect(BrandRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

interface BrandRow {
  readonly id: string
  readonly organization_id: string
  readonly slug: string
  readonly display_name: string
  readonly metadata: Readonly<Record<string, unknown>>
}

const toBrand = (row: BrandRow): Brand => ({
  id: row.id,
  organizationId: row.organization_id,
  slug: row.slug,
  displayName: row.display_name,
  metadata: row.metadata
})

const brandJson = (row: string) =>
  `jsonb_build_object('id', ${row}.id, 'organizationId', ${row}.organization_id, 'slug', ${row}.slug,
    'displayName', ${row}.display_name, 'metadata', ${row}.metadata)`

/** The journal's entry of the brand in the part `written`, with the row of the part `old` as it was. */
const noted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: "brands.create" | "brands.update" | "brands.delete",
  old?: string
) =>
  journalRows(sql, actor, {
    type,
    entityType: "brand",
    entityId: "x.id::text",
    payload: brandJson("x"),
    before: old === undefined ? undefined : brandJson("o"),
    from: old === undefined ? "written x" : `written x join ${old} o on o.id = x.id`
  })

const slugTaken = conflictOn({ brands_organization_id_slug_key: "A brand with this slug already exists." })

const make = (sql: SqlClient.SqlClient): BrandRepo["Service"] => {
  const list = Effect.fn("BrandRepo.list")(function*(page: PageRequest | undefined) {
    const organization = yield* currentOrganization
    const rows = sql<BrandRow>`select * from brands where organization_id = ${organization}
      order by display_name, slug
      ${page === undefined ? sql.literal("") : sql`limit ${page.limit} offset ${offsetOf(page)}`}`
    if (page === undefined) return wholeList((yield* rows).map(toBrand))
    const count = sql<{ readonly total: bigint }>`select count(*) as total from brands
      where organization_id = ${organization}`
    const [found, totals] = yield* Effect.all([rows, count], { concurrency: "unbounded" })
    return { ...page, items: found.map(toBrand), total: Number(totals[0]?.total ?? 0) }
  }, Effect.orDie)

  const create = Effect.fn("BrandRepo.create")(function*(input: NewBrand) {
    const actor = yield* CurrentActor
    const rows = yield* sql<BrandRow>`with written as (
        insert into brands (id, organization_id, slug, display_name, metadata)
        values (${newId()}::uuid, ${actor.organizationId}, ${input.slug}, ${input.displayName},
          ${JSON.stringify(input.metadata ?? {})}::jsonb) returning *),
      entry as (${noted(sql, actor, "brands.create")})
      select * from written`.pipe(slugTaken)
    // An insert that did not fail returned its row.
    return toBrand(rows[0] as BrandRow)
  })

  const update = Effect.fn("BrandRepo.update")(function*(id: string, change: BrandChange) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
    const rows = yield* sql<BrandRow>`with old as materialized (select * from brands
        where id = ${id}::uuid and organization_id = ${organization} for no key update),
      written as (update brands set slug = coalesce(${change.slug}, slug),
          display_name = coalesce(${change.displayName}, display_name),
          metadata = coalesce(${metadata}::jsonb, metadata)
        where id = (select id from old) and organization_id = ${organization} returning *),
      entry as (${noted(sql, actor, "brands.update", "old")})
      select * from written`.pipe(slugTaken)
    return rows[0] === undefined ? undefined : toBrand(rows[0])
  })

  const remove = Effect.fn("BrandRepo.remove")(function*(id: string) {
    const actor = yield* CurrentActor
    const rows = yield* sql`with written as (
        delete from brands where id = ${id}::uuid and organization_id = ${actor.organizationId} returning *),
      entry as (${noted(sql, actor, "brands.delete", "written")})
      select 1 from written`
    return rows.length === 1
  }, Effect.orDie)

  return { list, create, update, remove }
}
