import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../../platform/access/Actor.ts"
import { conflict } from "../../platform/errors/ErrorKinds.ts"
import { type BrandId, newId } from "../../platform/ids/Id.ts"
import { ownPage } from "../../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../../platform/paging/Paging.ts"
import { refusedBy } from "../../platform/records/Constraints.ts"
import { Table } from "../../platform/records/Table.ts"
import { changeEntry } from "../CatalogChangeRepo.ts"
import { Brand, type BrandChange, BrandNotFound, type NewBrand } from "./Brand.ts"

class BrandSlugTaken extends conflict("BrandSlugTaken", "A brand with this slug already exists.") {}

export const brands = new Table("brands", Brand)

export class BrandRepo extends Context.Service<BrandRepo>()("stoa/domain/catalog/brands/BrandRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(BrandRepo, BrandRepo.make)
}

const make = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(brands.columns())
  const slugTaken = refusedBy({ brands_organization_id_slug_key: () => new BrandSlugTaken() })

  const entry = (actor: Actor, type: `brands.${"create" | "update" | "delete"}`, old?: string) =>
    changeEntry(sql, actor, { type, entityType: "brand", json: (row) => brands.json(row), source: "written", old })

  const list = Effect.fn("BrandRepo.list")((page: PageRequest | undefined) =>
    Effect.orDie(ownPage(sql, brands, "display_name, slug", page, [], "all"))
  )

  const create = Effect.fn("BrandRepo.create")(function*(input: NewBrand) {
    const actor = yield* CurrentActor
    const { organizationId } = actor
    const brand = { ...input, id: newId<BrandId>(), organizationId, metadata: input.metadata ?? {} }
    const rows = yield* brands.rows(sql)`with written as (
        insert into brands (${sql.literal(brands.names)}) ${brands.values(sql, [brand])} returning *),
      entry as (${entry(actor, "brands.create")})
      select ${columns} from written`
    return rows[0] as Brand
  }, Effect.catchTag("SqlError", slugTaken))

  const update = Effect.fn("BrandRepo.update")(function*(id: BrandId, change: BrandChange) {
    const actor = yield* CurrentActor
    const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
    const rows = yield* brands.rows(sql)`with old as materialized (select * from brands
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
      written as (update brands set slug = coalesce(${change.slug}, slug),
          display_name = coalesce(${change.displayName}, display_name),
          metadata = coalesce(${metadata}::jsonb, metadata)
        where id = (select id from old) and organization_id = ${actor.organizationId} returning *),
      entry as (${entry(actor, "brands.update", "old")})
      select ${columns} from written`
    return rows[0] ?? (yield* new BrandNotFound())
  }, Effect.catchTag("SqlError", slugTaken))

  const remove = Effect.fn("BrandRepo.remove")(function*(id: BrandId) {
    const actor = yield* CurrentActor
    const rows = yield* sql`with written as (
        delete from brands where id = ${id}::uuid and organization_id = ${actor.organizationId} returning *),
      entry as (${entry(actor, "brands.delete", "written")})
      select 1 from written`
    if (rows.length === 0) return yield* new BrandNotFound()
  }, Effect.catchTag("SqlError", Effect.die))

  return { list, create, update, remove }
}
