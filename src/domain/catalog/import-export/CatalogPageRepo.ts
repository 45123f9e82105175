import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../../access/Actor.ts"
import type { CatalogEntity } from "../Entity.ts"
import { entityColumns } from "../EntityRowsRepo.ts"
import type { StoredEntity } from "./CatalogState.ts"
import { partsOfEntity } from "./CatalogStateRepo.ts"
import type { NeededReference } from "./FieldOrder.ts"

/** The entities to page through: those of some types, those of all others, or those with references. */
export type PagedTypes =
  | { readonly only: ReadonlyArray<string> }
  | { readonly except: ReadonlyArray<string> }
  | { readonly referring: true }

/** Reads the catalog page by page for exports. */
export class CatalogPageRepo extends Context.Service<CatalogPageRepo, {
  /** The next entities after a slug, ordered by slug; one statement. */
  readonly after: (
    slug: string | undefined,
    limit: number,
    types: PagedTypes
  ) => Effect.Effect<ReadonlyArray<StoredEntity>, never, CurrentActor>
  /** Whether any entity can reference another, and which types must. */
  readonly references: Effect.Effect<
    { readonly exist: boolean; readonly needed: ReadonlyArray<NeededReference> },
    never,
    CurrentActor
  >
  /** All locales with attributes, `en` first. */
  readonly locales: Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/catalog/import-export/CatalogPageRepo") {
  static readonly layer = Layer.effect(CatalogPageRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const make = (sql: SqlClient.SqlClient): CatalogPageRepo["Service"] => {
  const among = (types: PagedTypes) => {
    if ("only" in types) return sql`and type = any(${types.only}::text[])`
    if ("except" in types) {
      return types.except.length === 0 ? sql.literal("") : sql`and type <> all(${types.except}::text[])`
    }
    return sql`and exists (select 1 from entity_field_values f
      where f.entity_id = catalog_entities.id and f.reference_id is not null)`
  }

  const after = Effect.fn("CatalogPageRepo.after")(
    function*(slug: string | undefined, limit: number, types: PagedTypes) {
      const organization = yield* currentOrganization
      const behind = slug === undefined ? sql.literal("") : sql`and slug > ${slug}`
      const rows = yield* sql<CatalogEntity & Omit<StoredEntity, "entity">>`
        select ${sql.literal(entityColumns("e"))}, ${sql.literal(partsOfEntity)}
        from (select * from catalog_entities where organization_id = ${organization} ${behind} ${among(types)}
          order by slug limit ${limit}) e
        order by e.slug`
      return rows.map((row) => ({ ...row, entity: row }))
    },
    Effect.orDie
  )

  const references = Effect.gen(function*() {
    const organization = yield* currentOrganization
    interface Row extends NeededReference {
      readonly is_required: boolean
    }
    const rows = yield* sql<Row>`select entity_type as type, rules->>'entityType' as target, is_required
      from entity_field_definitions
      where organization_id = ${organization} and kind = 'reference' and status = 'active' order by entity_type, name`
    return { exist: rows.length > 0, needed: rows.filter((row) => row.is_required) }
  }).pipe(Effect.orDie, Effect.withSpan("CatalogPageRepo.references"))

  const locales = Effect.gen(function*() {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly locale: string }>`select distinct locale from entity_attributes
      where organization_id = ${organization} order by locale`
    return ["en", ...rows.map(({ locale }) => locale).filter((locale) => locale !== "en")]
  }).pipe(Effect.orDie, Effect.withSpan("CatalogPageRepo.locales"))

  return { after, references, locales }
}
