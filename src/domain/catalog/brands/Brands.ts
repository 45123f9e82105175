import { Context, Effect, Layer } from "effect"
import type { BrandId, EntityId } from "../../platform/ids/Id.ts"
import { EntityLinkRepo } from "../EntityLinkRepo.ts"
import { BrandRepo } from "./BrandRepo.ts"

/** Brands and the entities they make (contract §1.2). 404 for an unknown brand, 409 when another one has the slug. */
export class Brands extends Context.Service<Brands>()("stoa/domain/catalog/brands/Brands", {
  make: Effect.map(Effect.all([BrandRepo, EntityLinkRepo]), ([repo, links]) => ({
    ...repo,
    /** 404 for an unknown entity or brand. Idempotent. */
    link: (entityId: EntityId, brandId: BrandId) => links.link("brand", entityId, brandId),
    /** 404 when they are not linked. */
    unlink: (entityId: EntityId, brandId: BrandId) => links.unlink("brand", entityId, brandId)
  }))
}) {
  static readonly layer = Layer.effect(Brands, Brands.make)
}
