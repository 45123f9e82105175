import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization, holds } from "../access/Actor.ts"
import { servesGuests } from "../access/Ownership.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import type { CartVisitor } from "../carts/CartRules.ts"
import type { Basket } from "./Basket.ts"
import { type Claim, type ClaimRow, claimStatement } from "./ClaimStatementRepo.ts"

/** A cart as the claim read it. If `claimed` is false, the other fields say why. */
export interface ClaimedCart extends Basket {
  readonly claimed: boolean
  readonly admitted: boolean
  readonly status: string
  readonly expired: boolean
  /** An earlier or concurrent run of this checkout holds the claim; `claimed` says whether this run does. */
  readonly ours: boolean
  /** An earlier run of this checkout created the order. */
  readonly ordered: boolean
}

/** Claims and releases carts for checkouts. */
export class ClaimRepo extends Context.Service<ClaimRepo, {
  /**
   * Claims an active cart and reads it for pricing, in one statement for all waiting checkouts. Repeating it for the same
   * checkout finds the claim again. Undefined when the organization has no such cart.
   */
  readonly claim: (
    cartId: string,
    checkoutId: string,
    visitor: CartVisitor,
    currency: string
  ) => Effect.Effect<ClaimedCart | undefined, never, CurrentActor>
  /** Releases the cart if this checkout holds it (contract §3.2). */
  readonly release: (cartId: string, checkoutId: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/checkout/ClaimRepo") {}

/** `ClaimRepo` over the database of the process. */
export const claimRepoLayer = Layer.effect(
  ClaimRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const claiming = yield* GroupCommit.make<Claim, { readonly row: ClaimRow | undefined }>({
      name: "checkout.claim",
      together: (claims) =>
        Effect.map(claimStatement(sql, claims, "skip locked"), (rows) => {
          const byIndex = new Map(rows.map((row) => [row.n, { row }]))
          return claims.map((_, n) => byIndex.get(n))
        }),
      alone: (claim) => Effect.map(claimStatement(sql, [claim], ""), ([row]) => ({ row }))
    })

    const claim = Effect.fn("ClaimRepo.claim")(
      function*(cartId: string, checkoutId: string, { actor, customerId, secretHash }: CartVisitor, currency: string) {
        const { row } = yield* claiming({
          cart: cartId,
          checkout: checkoutId,
          organization: actor.organizationId,
          customer: customerId,
          secret: secretHash,
          serves: servesGuests(actor, "cart:update"),
          everything: holds(actor, "*:*"),
          currency
        })
        return row && toClaimed(row)
      },
      Effect.orDie
    )

    const release = Effect.fn("ClaimRepo.release")(function*(cartId: string, checkoutId: string) {
      const organization = yield* currentOrganization
      yield* sql`update carts set status = 'active', checkout_id = null, version = version + 1, updated_at = now()
        where id = ${cartId}::uuid and organization_id = ${organization} and checkout_id = ${checkoutId}::uuid
          and status = 'checking_out'`
    }, Effect.orDie)

    return ClaimRepo.of({ claim, release })
  })
)

const toClaimed = ({ customer_id, group_ids, n: _, secret_hash, ...row }: ClaimRow): ClaimedCart => ({
  ...row,
  customerId: customer_id,
  customerGroupIds: group_ids ?? [],
  secretHash: secret_hash
})
