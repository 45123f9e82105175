import { type Actor, holds } from "../access/Actor.ts"
import type { CatalogEntity } from "./Entity.ts"
import type { EntityView } from "./Expansion.ts"

const revealing = ["catalog:create", "catalog:update", "catalog:read:unpublished"]

const pricing = ["catalog:update", "pricing:read", "pricing:update", "pricing:manage"]

/** Shoppers see published entities only; whoever may write the catalog sees all of it (contract §1.1, visibility). */
export const seesUnpublished = (actor: Actor): boolean => revealing.some((permission) => holds(actor, permission))

/** Who keeps the catalog or its prices sees them all; others see those that they can be charged now. */
export const seesAllPrices = (actor: Actor): boolean => pricing.some((permission) => holds(actor, permission))

/** May this actor see the entity? What he may not see reads as 404 to him. */
export const isVisibleTo = (actor: Actor, entity: Pick<CatalogEntity, "status" | "isVisible">): boolean =>
  (entity.status === "active" && entity.isVisible) || seesUnpublished(actor)

type Metadata = CatalogEntity["metadata"]

/** Where a bought file lies stands in the metadata of what is sold; only whoever keeps the catalog may read it. */
export const withoutFile = <One extends { readonly metadata: Metadata }>(record: One): One => {
  if (!("downloadUrl" in record.metadata)) return record
  const { downloadUrl: _, ...metadata } = record.metadata
  return { ...record, metadata }
}

/** What an actor is shown of an entity that he may see: shoppers get no file without buying it, and public fields only. */
export const shownTo = (actor: Actor, view: EntityView): EntityView => {
  if (seesUnpublished(actor)) return view
  const { customFields, variants } = view
  if (customFields === undefined && variants === undefined) return withoutFile(view)
  return withoutFile({
    ...view,
    ...variants === undefined ? {} : { variants: variants.map(withoutFile) },
    ...customFields === undefined ? {} : { customFields: customFields.filter(({ isPublic }) => isPublic) }
  })
}
