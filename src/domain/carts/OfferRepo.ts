import { Context, Effect, Layer } from "effect"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import { seesUnpublished } from "../catalog/CatalogVisibility.ts"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { CartState } from "./Cart.ts"
import { type CartRow, toState } from "./CartRows.ts"

/** A cart with the groups of its customer, and why the thing cannot be put into it; told only to whom the cart may be shown. */
export interface Offer {
  readonly cart: CartState
  readonly groups: ReadonlyArray<string>
  readonly refusal: NotFound | ValidationFailed | null
}

/** Looks up, in one statement for all adds that wait, what an add needs to know: the cart, and whether the thing may be put into it. */
export class OfferRepo extends Context.Service<OfferRepo, {
  /**
   * The cart, undefined when the organization has none such. Its refusal is 404 for an entity the actor may not see and
   * for an unknown variant, 422 when the entity has variants and none was named (contract §2).
   */
  readonly find: (
    cartId: string,
    entityId: string,
    variantId: string | null
  ) => Effect.Effect<Offer | undefined, never, CurrentActor>
}>()("stoa/domain/carts/OfferRepo") {}

interface OfferRow {
  readonly group_ids: ReadonlyArray<string> | null
  readonly public: boolean | null
  readonly has_variants: boolean
  readonly variant_found: boolean
}

interface Look {
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

/** `OfferRepo` over the database of the process. */
export const offerRepoLayer = Layer.effect(
  OfferRepo,
  Effect.gen(function*() {
    const sql = yield* lookupSql
    const lookAll = (looks: ReadonlyArray<Look>) =>
      Effect.map(
        // Rows are picked by their ids and not by a join or `exists`, whose plan would read whole tables while they are young.
        sql<OfferRow & CartRow & { readonly n: number }>`with i as materialized (
            select * from jsonb_to_recordset(${JSON.stringify(looks.map((look, n) => ({ ...look, n })))}::jsonb)
              as i(n int, cart uuid, entity uuid, variant uuid, organization text))
          select i.n, c.*, (select u.group_ids from customers u where u.id = c.customer_id) as group_ids,
            (select e.status = 'active' and e.is_visible from catalog_entities e
              where e.id = i.entity and e.organization_id = c.organization_id) as public,
            coalesce((select true from variants v where v.entity_id = i.entity limit 1), false) as has_variants,
            coalesce((select true from variants v where v.entity_id = i.entity and v.id = i.variant
              and v.status = 'active' limit 1), false) as variant_found
          from i join carts c on c.id = i.cart and c.organization_id = i.organization
          where c.id = any(array(select cart from i))`,
        (rows) => {
          const found = new Map(rows.map((row) => [row.n, row]))
          return looks.map((_, n) => ({ row: found.get(n) }))
        }
      )

    const looking = yield* GroupCommit.make<Look, { readonly row: (OfferRow & CartRow) | undefined }>({
      name: "carts.offers",
      together: lookAll,
      alone: (look) => Effect.map(lookAll([look]), ([found]) => ({ row: found?.row }))
    })

    return OfferRepo.of({
      find: Effect.fn("OfferRepo.find")(function*(cartId, entityId, variantId) {
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
    })
  })
)
