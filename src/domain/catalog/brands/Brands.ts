import { Context, Effect, Layer } from "effect"
import { notFound } from "../../errors/ErrorKinds.ts"
import { EntityNotFound } from "../Entity.ts"
import { EntityLinkRepo } from "../EntityLinkRepo.ts"
import { type BrandChange, BrandNotFound } from "./Brand.ts"
import { BrandRepo } from "./BrandRepo.ts"

class BrandLinkNotFound extends notFound("BrandLink", "The entity does not have this brand.") {}

/** Brands and the entities they make (contract §1.2). */
export class Brands extends Context.Service<Brands>()("stoa/domain/catalog/brands/Brands", {
  make: Effect.gen(function*() {
    const repo = yield* BrandRepo
    const links = yield* EntityLinkRepo

    const update = Effect.fn("Brands.update")(function*(id: string, change: BrandChange) {
      return (yield* repo.update(id, change)) ?? (yield* new BrandNotFound())
    })

    const remove = Effect.fn("Brands.remove")(function*(id: string) {
      if (!(yield* repo.remove(id))) return yield* new BrandNotFound()
    })

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

    return {
      list: repo.list,
      /** 409 when another brand has the slug. */
      create: repo.create,
      update,
      remove,
      link,
      unlink
    }
  })
}) {
  static readonly layer = Layer.effect(Brands, Brands.make)
}
