import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import type { EntityId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { BrandNotFound } from "./brands/Brand.ts"
import { brandLinks, categoryLinks } from "./CatalogTables.ts"
import { CategoryNotFound } from "./categories/Category.ts"
import { EntityNotFound } from "./Entity.ts"

class CategoryLinkNotFound extends notFound("CategoryLink", "The entity is not in this category.") {}
class BrandLinkNotFound extends notFound("BrandLink", "The entity does not have this brand.") {}

const tables = {
  category: {
    links: "entity_categories",
    insertion: categoryLinks.insertion({ organizationId: "e.organization_id", entityId: "e.id", categoryId: "t.id" }),
    targets: "categories",
    column: "category_id",
    field: "categoryId",
    Missing: CategoryNotFound,
    NotLinked: CategoryLinkNotFound
  },
  brand: {
    links: "entity_brands",
    insertion: brandLinks.insertion({ organizationId: "e.organization_id", entityId: "e.id", brandId: "t.id" }),
    targets: "brands",
    column: "brand_id",
    field: "brandId",
    Missing: BrandNotFound,
    NotLinked: BrandLinkNotFound
  }
} as const

type LinkTarget = keyof typeof tables

export class EntityLinkRepo extends Context.Service<EntityLinkRepo>()("stoa/domain/catalog/EntityLinkRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(EntityLinkRepo, EntityLinkRepo.make)
}

const LinkEnds = Schema.Struct({ entity: Schema.Boolean, target: Schema.Boolean })

const entry = (sql: SqlClient.SqlClient, actor: Actor, target: LinkTarget, what: "link" | "unlink") => {
  const { column, field, targets } = tables[target]
  const link = `jsonb_build_object('entityId', x.entity_id, '${field}', x.${column})`
  return changeLogRows(sql, actor, {
    type: `${targets}.${what}`,
    entityType: "catalog_entity",
    entityId: "x.entity_id::text",
    payload: what === "link" ? link : `${link} || '{"deleted": true}'`,
    before: what === "link" ? undefined : link,
    from: "written x"
  })
}

const make = (sql: SqlClient.SqlClient) => {
  const link = Effect.fn("EntityLinkRepo.link")(function*(target: LinkTarget, entityId: EntityId, targetId: string) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    const { insertion, links, Missing, targets } = tables[target]
    // Key share waits for a concurrent deletion of the target, which is then not found, instead of a foreign key error.
    // The entity gets the lock of every other writer: the search index serializes them, and a weaker lock could
    // deadlock.
    const rows = yield* decoding(sql, LinkEnds)`with e as (
        select id, organization_id from catalog_entities where id = ${entityId}::uuid and organization_id = ${organization}
        for no key update),
      t as (select id from ${sql(targets)} where id = ${targetId}::uuid and organization_id = ${organization}
        for key share),
      written as (insert into ${sql(links)} ${sql.literal(insertion)} from e, t on conflict do nothing returning *),
      entry as (${entry(sql, actor, target, "link")})
      select exists (select 1 from e) as entity, exists (select 1 from t) as target`
    if (rows[0]?.entity !== true) return yield* new EntityNotFound()
    if (!rows[0].target) return yield* new Missing()
  }, Effect.catchTag("SqlError", Effect.die))

  const unlink = Effect.fn("EntityLinkRepo.unlink")(
    function*(target: LinkTarget, entityId: EntityId, targetId: string) {
      const actor = yield* CurrentActor
      const { column, links, NotLinked } = tables[target]
      const rows = yield* sql`with written as (delete from ${sql(links)} where entity_id = ${entityId}::uuid
        and ${sql(column)} = ${targetId}::uuid and organization_id = ${actor.organizationId} returning *),
      entry as (${entry(sql, actor, target, "unlink")})
      select 1 from written`
      if (rows.length === 0) return yield* new NotLinked()
    },
    Effect.catchTag("SqlError", Effect.die)
  )

  return { link, unlink }
}
