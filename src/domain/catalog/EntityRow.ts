import type { CatalogEntity, EntityStatus } from "./Entity.ts"
import type { EntityView, Expansions } from "./Expansion.ts"

/** A row of `catalog_entities`, with the expansions that were selected beside it. */
export interface EntityRow {
  readonly id: string
  readonly organization_id: string
  readonly source_store_id: string | null
  readonly type: string
  readonly slug: string
  readonly status: EntityStatus
  readonly is_visible: boolean
  readonly tax_class: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly created_at: Date
  readonly updated_at: Date
  readonly published_at: Date | null
}

export interface EntityViewRow extends EntityRow {
  readonly expansions?: Expansions
}

export const toEntity = (row: EntityRow): CatalogEntity => ({
  id: row.id,
  organizationId: row.organization_id,
  sourceStoreId: row.source_store_id,
  type: row.type,
  slug: row.slug,
  status: row.status,
  isVisible: row.is_visible,
  taxClass: row.tax_class,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  publishedAt: row.published_at
})

export const toView = (row: EntityViewRow): EntityView =>
  row.expansions === undefined ? toEntity(row) : { ...toEntity(row), ...row.expansions }
