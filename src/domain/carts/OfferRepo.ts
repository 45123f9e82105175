import { Context, Effect, Layer } from "effect"
import { CurrentActor, holds } from "../access/Actor.ts"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { CartState } from "./Cart.ts"
import { type CartRow, toState } from "./CartRows.ts"

/** Looks up, in one statement, what an add needs to know: the cart, and whether the thing may be put into it. */
export class OfferRepo extends Context.Service<OfferRepo, {
  /**
   * The cart (undefined when the organization has none such), after the thing was found sellable: 404 for an entity
   * the actor may not see and for an unknown variant, 422 when it has variants and none was named (contract §2).
   */
  readonly find: (
    cartId: string,
    entityId: string,
    variantId: string | null
  ) => Effect.Effect<CartState | undefined, NotFound | ValidationFailed, CurrentActor>
}>()("stoa/domain/carts/OfferRepo") {}

interface OfferRow {
  readonly public: boolean | null
  readonly has_variants: boolean
  readonly variant_found: boolean
}

const revealing = ["catalog:create", "catalog:update", "catalog:read:unpublished"]

export const offerRepoLayer = Layer.effect(
  OfferRepo,
  Effect.map(lookupSql, (sql) => {
    const look = Effect.fn("OfferRepo.look")(
      function*(organization: string, cartId: string, entityId: string, variantId: string | null) {
        const rows = yield* sql<CartRow & OfferRow>`select c.*,
            (select e.status = 'active' and e.is_visible from catalog_entities e
              where e.id = ${entityId}::uuid and e.organization_id = c.organization_id) as public,
            exists (select 1 from variants v where v.entity_id = ${entityId}::uuid) as has_variants,
            exists (select 1 from variants v where v.entity_id = ${entityId}::uuid and v.id = ${variantId}::uuid
              and v.status = 'active') as variant_found
          from carts c where c.id = ${cartId}::uuid and c.organization_id = ${organization}`
        return rows[0]
      },
      Effect.orDie
    )
    return OfferRepo.of({
      find: Effect.fn("OfferRepo.find")(function*(cartId, entityId, variantId) {
        const actor = yield* CurrentActor
        const row = yield* look(actor.organizationId, cartId, entityId, variantId)
        if (row === undefined) return undefined
        if (row.public === null || !(row.public || revealing.some((permission) => holds(actor, permission)))) {
          return yield* NotFound.of("Catalog entity not found.")
        }
        if (variantId !== null && !row.variant_found) return yield* NotFound.of("Variant not found.")
        if (variantId === null && row.has_variants) {
          return yield* ValidationFailed.of(
            "variantId",
            "This item has variants: name one of them.",
            "variant_required"
          )
        }
        return toState(row)
      })
    })
  })
)
