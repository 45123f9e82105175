import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, holds } from "../access/Actor.ts"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"

/** May this thing be put into a cart? Looks at the catalog's rows, which carts only read. */
export class SellableRepo extends Context.Service<SellableRepo, {
  /**
   * Succeeds when the entity exists for this actor and, where it has variants, one of them was named. 404 for what he
   * may not see and for an unknown variant, 422 when a variant is missing (contract §2).
   */
  readonly check: (
    entityId: string,
    variantId: string | null
  ) => Effect.Effect<void, NotFound | ValidationFailed, CurrentActor>
}>()("stoa/domain/carts/SellableRepo") {}

interface SellableRow {
  readonly public: boolean
  readonly has_variants: boolean
  readonly variant_found: boolean
}

const revealing = ["catalog:create", "catalog:update", "catalog:read:unpublished"]

export const sellableRepoLayer = Layer.effect(
  SellableRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("SellableRepo.find")(function*(organization: string, entityId: string, variantId: string | null) {
      const rows = yield* sql<SellableRow>`select (e.status = 'active' and e.is_visible) as public,
          exists (select 1 from variants v where v.entity_id = e.id) as has_variants,
          exists (select 1 from variants v where v.entity_id = e.id and v.id = ${variantId}::uuid
            and v.status = 'active') as variant_found
        from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${organization}`
      return rows[0]
    }, Effect.orDie)
    return SellableRepo.of({
      check: Effect.fn("SellableRepo.check")(function*(entityId, variantId) {
        const actor = yield* CurrentActor
        const row = yield* find(actor.organizationId, entityId, variantId)
        if (row === undefined || !(row.public || revealing.some((permission) => holds(actor, permission)))) {
          return yield* NotFound.of("Catalog entity not found.")
        }
        if (variantId !== null && !row.variant_found) return yield* NotFound.of("Variant not found.")
        if (variantId === null && row.has_variants) {
          return yield* ValidationFailed.of("variantId", "This item has variants: name one of them.", "variant_required")
        }
      })
    })
  })
)
