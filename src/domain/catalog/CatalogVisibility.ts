import { type Actor, holds, seesUnpublished } from "../platform/access/Actor.ts"
import type { CatalogEntity } from "./Entity.ts"
import type { EntityView } from "./EntityView.ts"

const pricePermissions = ["catalog:update", "pricing:read", "pricing:update", "pricing:manage"]

/** Staff of the catalog or its prices see all prices; others see those that apply to them now. */
export const seesAllPrices = (actor: Actor): boolean => pricePermissions.some((permission) => holds(actor, permission))

export const isVisibleTo = (actor: Actor, entity: Pick<CatalogEntity, "status" | "isVisible">): boolean =>
  (entity.status === "active" && entity.isVisible) || seesUnpublished(actor)

type Metadata = CatalogEntity["metadata"]

/** Only catalog staff may read the location of a sold file. */
export const withoutFile = <One extends { readonly metadata: Metadata }>(record: One): One => {
  if (!("downloadUrl" in record.metadata)) return record
  const { downloadUrl: _, ...metadata } = record.metadata
  return { ...record, metadata }
}

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
