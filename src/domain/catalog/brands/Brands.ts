import { Context, Effect, Layer } from "effect"
import { notFound } from "../../errors/ErrorKinds.ts"
import { EntityNotFound } from "../Entity.ts"
import { EntityLinkRepo } from "../EntityLinkRepo.ts"
import { BrandNotFound } from "./Brand.ts"
import { BrandRepo } from "./BrandRepo.ts"

class BrandLinkNotFound extends notFound("BrandLink", "The entity does not have this brand.") {}

/** Brands and the entities they make (contract §1.2). 404 for an unknown brand, 409 when another one has the slug. */
export class Brands extends Context.Service<Brands>()("stoa/domain/catalog/brands/Brands", {
  make: Effect.gen(function*() {
    const repo = yield* BrandRepo
    const links = yield* EntityLinkRepo

    /** 404 for an unknown entity or brand. Idempotent. */
    const link = Effect.fn("Brands.link")(function*(entityId: string, brandId: string) {
      const ends = yield* links.link("brand", entityId, brandId)
      if (!ends.entity) return yield* new EntityNotFound()
      if (!ends.target) return yield* new BrandNotFound()
    })

    /** 404 when they are not linked. */
    const unlink = Effect.fn("Brands.unlink")(function*(entityId: string, brandId: string) {
      if (!(yield* links.unlink("brand", entityId, brandId))) return yield* new BrandLinkNotFound()
    })

    return { ...repo, link, unlink }
  })
}) {
  static readonly layer = Layer.effect(Brands, Brands.make)
}
