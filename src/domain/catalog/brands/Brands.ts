import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { type Conflict, NotFound } from "../../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../../paging/Paging.ts"
import { EntityLinkRepo } from "../EntityLinkRepo.ts"
import type { Brand, BrandChange, NewBrand } from "./Brand.ts"
import { BrandRepo } from "./BrandRepo.ts"

/** Brands and the entities they make (contract §1.2). */
export class Brands extends Context.Service<Brands, {
  readonly list: (page: PageRequest | undefined) => Effect.Effect<PageOf<Brand>, never, CurrentActor>
  /** 409 when another brand has the slug. */
  readonly create: (input: NewBrand) => Effect.Effect<Brand, Conflict, CurrentActor>
  readonly update: (id: string, change: BrandChange) => Effect.Effect<Brand, NotFound | Conflict, CurrentActor>
  readonly remove: (id: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** 404 for an unknown entity or brand. Idempotent. */
  readonly link: (entityId: string, brandId: string) => Effect.Effect<void, NotFound, CurrentActor>
  /** 404 when they are not linked. */
  readonly unlink: (entityId: string, brandId: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/catalog/brands/Brands") {
  static readonly layer = Layer.effect(
    Brands,
    Effect.gen(function*() {
      const repo = yield* BrandRepo
      const links = yield* EntityLinkRepo

      const update = Effect.fn("Brands.update")(function*(id: string, change: BrandChange) {
        return (yield* repo.update(id, change)) ?? (yield* unknownBrand)
      })

      const remove = Effect.fn("Brands.remove")(function*(id: string) {
        if (!(yield* repo.remove(id))) return yield* unknownBrand
      })

      const link = Effect.fn("Brands.link")(function*(entityId: string, brandId: string) {
        const ends = yield* links.link("brand", entityId, brandId)
        if (!ends.entity) return yield* NotFound.of("Catalog entity not found.")
        if (!ends.target) return yield* unknownBrand
      })

      const unlink = Effect.fn("Brands.unlink")(function*(entityId: string, brandId: string) {
        const unlinked = yield* links.unlink("brand", entityId, brandId)
        if (!unlinked) return yield* NotFound.of("The entity does not have this brand.")
      })

      return { list: repo.list, create: repo.create, update, remove, link, unlink }
    })
  )
}

const unknownBrand = NotFound.of("Brand not found.")
