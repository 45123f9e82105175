import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { EntityId, VariantId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"

const Options = Schema.Record(Schema.String, Schema.String)

const NamedEntity = Schema.Struct({
  id: EntityId,
  slug: Schema.String,
  counted: Schema.Boolean,
  variants: Schema.Array(Schema.Struct({
    id: VariantId,
    counted: Schema.NullOr(Schema.Boolean),
    options: Options
  }))
})
export type NamedEntity = typeof NamedEntity.Type

const NamedVariant = Schema.Struct({
  sku: Schema.String,
  variantId: VariantId,
  entityId: EntityId,
  counted: Schema.Boolean,
  options: Options,
  slug: Schema.String
})
export type NamedVariant = typeof NamedVariant.Type

const optionsOf = `(select coalesce(jsonb_object_agg(t.name, w.value), '{}') from variant_option_values o
  join option_values w on w.id = o.option_value_id join option_types t on t.id = w.option_type_id
  where o.variant_id = v.id)`

export class SellableRepo extends Context.Service<SellableRepo>()("stoa/domain/catalog/SellableRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    named: Effect.fn("SellableRepo.named")(function*(slugs: ReadonlyArray<string>, skus: ReadonlyArray<string>) {
      const organization = yield* currentOrganization
      const entities = yield* decoding(
        sql,
        NamedEntity,
        "unprepared"
      )`select e.id, e.slug, e.manage_inventory as counted,
            (select coalesce(jsonb_agg(jsonb_build_object('id', v.id, 'counted', v.manage_inventory, 'options',
                ${sql.literal(optionsOf)})), '[]')
              from variants v where v.entity_id = e.id and v.organization_id = e.organization_id) as variants
          from catalog_entities e where e.organization_id = ${organization} and e.slug = any(${slugs}::text[])`
      const variants = yield* decoding(sql, NamedVariant, "unprepared")`
          select v.sku, v.id as "variantId", v.entity_id as "entityId",
            (select e.slug from catalog_entities e where e.id = v.entity_id) as slug,
            coalesce(v.manage_inventory, (select e.manage_inventory from catalog_entities e where e.id = v.entity_id))
              as counted, ${sql.literal(optionsOf)} as options
          from variants v where v.organization_id = ${organization} and v.sku = any(${skus}::text[])
          order by slug, v.sort_order, v.id`
      return {
        entities: new Map(entities.map((entity) => [entity.slug, entity])),
        variants: Map.groupBy(variants, ({ sku }) => sku)
      }
    }, Effect.orDie)
  }))
}) {
  static readonly layer = Layer.effect(SellableRepo, SellableRepo.make)
}
