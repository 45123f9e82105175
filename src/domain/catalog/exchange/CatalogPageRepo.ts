import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { type EntityRow, toEntity } from "../EntityRow.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { StoredEntity } from "./CatalogState.ts"
import { partsOfEntity } from "./CatalogStateRepo.ts"
import { recordOf } from "./RecordOf.ts"

/** Reads the catalog from one end to the other, as files carry it. */
export class CatalogPageRepo extends Context.Service<CatalogPageRepo, {
  /** So many records behind a slug, in the order of their slugs; one statement. */
  readonly after: (
    slug: string | undefined,
    limit: number
  ) => Effect.Effect<ReadonlyArray<CatalogRecord & { readonly type: string }>, never, CurrentActor>
  /** Every locale that anything is written in, `en` first. */
  readonly locales: Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/catalog/exchange/CatalogPageRepo") {
  static readonly layer = Layer.effect(CatalogPageRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const make = (sql: SqlClient.SqlClient): CatalogPageRepo["Service"] => {
  const after = Effect.fn("CatalogPageRepo.after")(function*(slug: string | undefined, limit: number) {
    const organization = yield* currentOrganization
    const behind = slug === undefined ? sql.literal("") : sql`and slug > ${slug}`
    const rows = yield* sql<EntityRow & Omit<StoredEntity, "entity">>`select e.*, ${sql.literal(partsOfEntity)}
      from (select * from catalog_entities where organization_id = ${organization} ${behind}
        order by slug limit ${limit}) e
      order by e.slug`
    return rows.map((row) => recordOf({ ...row, entity: toEntity(row) }))
  }, Effect.orDie)

  const locales = Effect.gen(function*() {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly locale: string }>`select distinct locale from entity_attributes
      where organization_id = ${organization} order by locale`
    return ["en", ...rows.map(({ locale }) => locale).filter((locale) => locale !== "en")]
  }).pipe(Effect.orDie, Effect.withSpan("CatalogPageRepo.locales"))

  return { after, locales }
}
