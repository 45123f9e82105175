import { Schema } from "effect"
import { OrderLineId, rowsOf, statement } from "stoa/plugin"

/** A line of an order that a store ships. */
const SourceLine = Schema.Struct({
  lineId: OrderLineId,
  storeId: Schema.String,
  /** Its variant at the store; null: none is known. */
  externalVariantId: Schema.NullOr(Schema.String)
})
export type SourceLine = typeof SourceLine.Type

const sources = rowsOf(SourceLine)

/** The lines of an order whose goods come from stores. */
export const sourceLines = statement("ExportsRepo.sourceLines", function*(sql, organizationId, orderId: string) {
  return yield* sources(sql`select line.id as "lineId", store.id as "storeId", map.external_id as "externalVariantId"
    from plugin_order_lines line
    join plugin_entities entity on entity.organization_id = line.organization_id and entity.id = line.entity_id
    left join plugin_variants variant
      on variant.organization_id = line.organization_id and variant.id = line.variant_id
    join connected_stores store on store.organization_id = line.organization_id
      and store.id::text = coalesce(variant.source_store_id, entity.source_store_id)
    left join lateral (select found.external_id from channel_entity_map found
      where found.organization_id = line.organization_id and found.store_id = store.id and found.kind = 'variant'
        and found.entity_id = line.entity_id and found.variant_id is not distinct from line.variant_id
      order by found.external_id limit 1) map on true
    where line.organization_id = ${organizationId} and line.order_id = ${orderId}::uuid
    order by line.position`)
})
