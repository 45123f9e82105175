import { type Actor, holds, seesUnpublished } from "../platform/access/Actor.ts"
import type { CatalogEntity } from "./Entity.ts"
import type { EntityView } from "./EntityView.ts"

const pricePermissions = ["catalog:update", "pricing:read", "pricing:update", "pricing:manage"]

/** Staff of the catalog or its prices see all prices; others see those that apply to them now. */
export const seesAllPrices = (actor: Actor): boolean => pricePermissions.some((permission) => holds(actor, permission))

/** Whether the actor may see the entity; otherwise it reads as 404. */
export const isVisibleTo = (actor: Actor, entity: Pick<CatalogEntity, "status" | "isVisible">): boolean =>
  (entity.status === "active" && entity.isVisible) || seesUnpublished(actor)

type Metadata = CatalogEntity["metadata"]

/** Removes the location of a sold file from the metadata; only catalog staff may read it. */
export const withoutFile = <One extends { readonly metadata: Metadata }>(record: One): One => {
  if (!("downloadUrl" in record.metadata)) return record
  const { downloadUrl: _, ...metadata } = record.metadata
  return { ...record, metadata }
}

/** The entity as the actor may see it: shoppers get no location of a sold file and only public fields. */
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
