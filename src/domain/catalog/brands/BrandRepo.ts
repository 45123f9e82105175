import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../../access/Actor.ts"
import { changeLogRows } from "../../events/ChangeLogRepo.ts"
import { newId } from "../../ids/Id.ts"
import { ownPage } from "../../paging/OwnPageRepo.ts"
import type { PageRequest } from "../../paging/Paging.ts"
import { Table } from "../../records/Table.ts"
import { conflictOn } from "../UniqueRepo.ts"
import { Brand, type BrandChange, type NewBrand } from "./Brand.ts"

/** The brands of an organization. */
export class BrandRepo extends Context.Service<BrandRepo>()("stoa/domain/catalog/brands/BrandRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(BrandRepo, BrandRepo.make)
}

export const brands = new Table("brands", Brand)

/** Change log entry for the brand in the CTE `written`; `old` names the CTE with its previous row. */
const noted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: "brands.create" | "brands.update" | "brands.delete",
  old?: string
) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "brand",
    entityId: "x.id::text",
    payload: brands.json("x"),
    before: old === undefined ? undefined : brands.json("o"),
    from: old === undefined ? "written x" : `written x join ${old} o on o.id = x.id`
  })

const slugTaken = conflictOn({ brands_organization_id_slug_key: "A brand with this slug already exists." })

const make = (sql: SqlClient.SqlClient) => {
  /** By display name; all brands when no page is given. */
  const list = Effect.fn("BrandRepo.list")((page: PageRequest | undefined) =>
    Effect.orDie(ownPage(sql, brands, "display_name, slug", page))
  )

  const create = Effect.fn("BrandRepo.create")(function*(input: NewBrand) {
    const actor = yield* CurrentActor
    const rows = yield* brands.rows(sql)`with written as (
        insert into brands (id, organization_id, slug, display_name, metadata)
        values (${newId()}::uuid, ${actor.organizationId}, ${input.slug}, ${input.displayName},
          ${JSON.stringify(input.metadata ?? {})}::jsonb) returning *),
      entry as (${noted(sql, actor, "brands.create")})
      select ${sql.literal(brands.columns())} from written`.pipe(slugTaken)
    // A successful insert returns its row.
    return rows[0] as Brand
  })

  /** Undefined when there is no such brand. */
  const update = Effect.fn("BrandRepo.update")(function*(id: string, change: BrandChange) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
    const rows = yield* brands.rows(sql)`with old as materialized (select * from brands
        where id = ${id}::uuid and organization_id = ${organization} for no key update),
      written as (update brands set slug = coalesce(${change.slug}, slug),
          display_name = coalesce(${change.displayName}, display_name),
          metadata = coalesce(${metadata}::jsonb, metadata)
        where id = (select id from old) and organization_id = ${organization} returning *),
      entry as (${noted(sql, actor, "brands.update", "old")})
      select ${sql.literal(brands.columns())} from written`.pipe(slugTaken)
    return rows[0]
  })

  /** Detaches the entities of the brand. False when there is no such brand. */
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
