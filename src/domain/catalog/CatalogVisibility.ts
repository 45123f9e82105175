import { type Actor, holds } from "../access/Actor.ts"
import type { CatalogEntity } from "./Entity.ts"

const revealing = ["catalog:create", "catalog:update", "catalog:read:unpublished"]

/** Shoppers see published entities only; whoever may write the catalog sees all of it (contract §1.1, visibility). */
export const seesUnpublished = (actor: Actor): boolean => revealing.some((permission) => holds(actor, permission))

/** May this actor see the entity? What he may not see reads as 404 to him. */
export const isVisibleTo = (actor: Actor, entity: Pick<CatalogEntity, "status" | "isVisible">): boolean =>
  (entity.status === "active" && entity.isVisible) || seesUnpublished(actor)
