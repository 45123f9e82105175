import { Context, Effect, Layer } from "effect"
import { NotFound } from "../../errors/ApiErrors.ts"
import { EntityLinkRepo } from "../EntityLinkRepo.ts"
import type { BrandChange } from "./Brand.ts"
import { BrandRepo } from "./BrandRepo.ts"

/** Brands and the entities they make (contract §1.2). */
export class Brands extends Context.Service<Brands>()("stoa/domain/catalog/brands/Brands", {
  make: Effect.gen(function*() {
    const repo = yield* BrandRepo
    const links = yield* EntityLinkRepo

    const update = Effect.fn("Brands.update")(function*(id: string, change: BrandChange) {
      return (yield* repo.update(id, change)) ?? (yield* unknownBrand)
    })

    const remove = Effect.fn("Brands.remove")(function*(id: string) {
      if (!(yield* repo.remove(id))) return yield* unknownBrand
    })

    /** 404 for an unknown entity or brand. Idempotent. */
    const link = Effect.fn("Brands.link")(function*(entityId: string, brandId: string) {
      const ends = yield* links.link("brand", entityId, brandId)
      if (!ends.entity) return yield* NotFound.of("Catalog entity not found.")
      if (!ends.target) return yield* unknownBrand
    })

    /** 404 when they are not linked. */
    const unlink = Effect.fn("Brands.unlink")(function*(entityId: string, brandId: string) {
      const unlinked = yield* links.unlink("brand", entityId, brandId)
      if (!unlinked) return yield* NotFound.of("The entity does not have this brand.")
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

const unknownBrand = NotFound.of("Brand not found.")
