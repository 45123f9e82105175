import { Predicate } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** What a price or a modifier is for; null is everything of the organization. */
export interface PriceTarget {
  readonly organizationId: string
  readonly entityId: string | null
  readonly variantId: string | null
}

/** Whether the target exists in the catalog: `entity_found`, and `variant_found` for a variant of that entity. */
export interface TargetRow {
  readonly entity_found: boolean
  readonly variant_found: boolean
}

/** A SELECT of one `TargetRow`, to be used as a part of the statement that writes. */
export const targetOf = (sql: SqlClient.SqlClient, { entityId, organizationId, variantId }: PriceTarget) =>
  sql`select
      (${entityId}::uuid is null or exists (select 1 from catalog_entities_read e
        where e.id = ${entityId}::uuid and e.organization_id = ${organizationId})) as entity_found,
      (${variantId}::uuid is null or exists (select 1 from variants_read v where v.id = ${variantId}::uuid
        and v.organization_id = ${organizationId}
        and (${entityId}::uuid is null or v.entity_id = ${entityId}::uuid))) as variant_found`

/** The entity or variant was deleted between read and write: the foreign key (23503) rejects the row. */
export const isTargetGone = (error: SqlError.SqlError): boolean =>
  error.reason._tag === "ConstraintError" && Predicate.hasProperty(error.reason.cause, "code") &&
  error.reason.cause.code === "23503"
