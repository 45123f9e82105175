import { Context, Effect, Layer } from "effect"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import { seesUnpublished } from "../catalog/CatalogVisibility.ts"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { CartState } from "./Cart.ts"
import { type CartRow, stateColumns, toState } from "./CartRepo.ts"

/** A cart with its customer's groups, and the reason why an item cannot be added; show it only to admitted visitors. */
export interface Offer {
  readonly cart: CartState
  readonly groups: ReadonlyArray<string>
  readonly refusal: NotFound | ValidationFailed | null
}

interface OfferRow {
  readonly group_ids: ReadonlyArray<string> | null
  readonly public: boolean | null
  readonly has_variants: boolean
  readonly variant_found: boolean
}

interface Lookup {
  readonly cart: string
  readonly entity: string
  readonly variant: string | null
  readonly organization: string
}

const refusalOf = (row: OfferRow, actor: Actor, variantId: string | null): Offer["refusal"] => {
  if (row.public === null || !(row.public || seesUnpublished(actor))) {
    return NotFound.of("Catalog entity not found.")
  }
  if (variantId !== null) return row.variant_found ? null : NotFound.of("Variant not found.")
  return row.has_variants
    ? ValidationFailed.of("variantId", "This item has variants: name one of them.", "variant_required")
    : null
}

/** Reads in one statement, for all waiting adds, the cart and whether the item can be added to it. */
export class OfferRepo extends Context.Service<OfferRepo>()("stoa/domain/carts/OfferRepo", {
  make: Effect.gen(function*() {
    const sql = yield* lookupSql
    const lookAll = (lookups: ReadonlyArray<Lookup>) =>
      Effect.map(
        // Conditions use ids and scalar subqueries: on a young table the planner would scan it for a join or `exists`.
        sql<OfferRow & CartRow & { readonly n: number }>`with i as materialized (
            select * from jsonb_to_recordset(${JSON.stringify(lookups.map((lookup, n) => ({ ...lookup, n })))}::jsonb)
              as i(n int, cart uuid, entity uuid, variant uuid, organization text))
          select i.n, ${
          sql.literal(stateColumns)
        }, (select u.group_ids from customers_read u where u.id = c.customer_id) as group_ids,
            (select e.status = 'active' and e.is_visible from catalog_entities_read e
              where e.id = i.entity and e.organization_id = c.organization_id) as public,
            coalesce((select true from variants_read v where v.entity_id = i.entity limit 1), false) as has_variants,
            coalesce((select true from variants_read v where v.entity_id = i.entity and v.id = i.variant
              and v.status = 'active' limit 1), false) as variant_found
          from i join carts c on c.id = i.cart and c.organization_id = i.organization
          where c.id = any(array(select cart from i))`,
        (rows) => {
          const byIndex = new Map(rows.map((row) => [row.n, row]))
          return lookups.map((_, n) => ({ row: byIndex.get(n) }))
        }
      )

    const looking = yield* GroupCommit.make<Lookup, { readonly row: (OfferRow & CartRow) | undefined }>({
      name: "carts.offers",
      together: lookAll,
      alone: (lookup) => Effect.map(lookAll([lookup]), ([result]) => ({ row: result?.row }))
    })

    return {
      /**
       * The cart; undefined when the organization has no such cart. `refusal` is 404 for an entity that the actor may
       * not see and an unknown variant, 422 for a missing variant (contract §2).
       */
      find: Effect.fn("OfferRepo.find")(function*(cartId: string, entityId: string, variantId: string | null) {
        const actor = yield* CurrentActor
        const { row } = yield* looking({
          cart: cartId,
          entity: entityId,
          variant: variantId,
          organization: actor.organizationId
        }).pipe(Effect.orDie)
        return row && {
          cart: toState(row),
          groups: row.group_ids ?? [],
          refusal: refusalOf(row, actor, variantId)
        }
      })
    }
  })
}) {}

/** `OfferRepo` over the database of the process. */
export const offerRepoLayer = Layer.effect(OfferRepo, OfferRepo.make)
