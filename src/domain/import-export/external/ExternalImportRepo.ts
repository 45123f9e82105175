import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { CatalogEntity } from "../../catalog/Entity.ts"
import { currentOrganization } from "../../platform/access/Actor.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { Time } from "../../platform/text/Time.ts"

const KnownEntity = Schema.Struct(Struct.pick(CatalogEntity.fields, ["id", "slug", "sourceStoreId"]))
export type KnownEntity = typeof KnownEntity.Type

const Known = Schema.Struct({
  now: Time,
  entities: Schema.Array(KnownEntity),
  /** Entities with a variant that has one of the SKUs, once for each variant. */
  owners: Schema.Array(Schema.Struct({ ...KnownEntity.fields, sku: Schema.String }))
})
export type Known = typeof Known.Type

interface Names {
  readonly ids: ReadonlyArray<string>
  readonly slugs: ReadonlyArray<string>
  readonly skus: ReadonlyArray<string>
}

const entity = "'id', e.id, 'slug', e.slug, 'sourceStoreId', e.source_store_id"

/** Reads what products of other shops may be here, without locks: the import checks it when it holds them. */
export class ExternalImportRepo
  extends Context.Service<ExternalImportRepo>()("stoa/domain/import-export/external/ExternalImportRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({
      known: Effect.fn("ExternalImportRepo.known")(function*({ ids, skus, slugs }: Names) {
        const organization = yield* currentOrganization
        const [known] = yield* decoding(sql, Known, "unprepared")`select now() as now,
          (select coalesce(jsonb_agg(jsonb_build_object(${sql.literal(entity)})), '[]') from catalog_entities e
            where e.organization_id = ${organization}
              and (e.id = any(${ids}::uuid[]) or e.slug = any(${slugs}::text[]))) as entities,
          (select coalesce(jsonb_agg(jsonb_build_object('sku', v.sku) ||
              (select jsonb_build_object(${sql.literal(entity)}) from catalog_entities e
                where e.id = v.entity_id and e.organization_id = v.organization_id)), '[]')
            from variants v where v.organization_id = ${organization} and v.sku = any(${skus}::text[])) as owners`
        return known ?? (yield* Effect.die(new Error("A row without a table is missing.")))
      }, Effect.orDie)
    }))
  })
{
  static readonly layer = Layer.effect(ExternalImportRepo, ExternalImportRepo.make)
}
