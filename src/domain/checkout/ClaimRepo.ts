import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization, holds } from "../access/Actor.ts"
import { servesGuests } from "../access/Ownership.ts"
import * as GroupCommit from "../batching/GroupCommitRepo.ts"
import type { CartVisitor } from "../carts/CartRules.ts"
import type { Basket } from "./Basket.ts"
import { type Claim, type ClaimRow, claimStatement } from "./ClaimStatementRepo.ts"

/** The cart as the claim found it. `claimed` is false when it could not be had; `status` and the rest say why. */
export interface ClaimedCart extends Basket {
  readonly claimed: boolean
  readonly admitted: boolean
  readonly status: string
  readonly expired: boolean
  /** The claim is this checkout's, made by a run before or beside this one; `claimed` says whether this one has it too. */
  readonly ours: boolean
  /** This checkout has ordered its order already, in a run before this one. */
  readonly ordered: boolean
}

/** Takes and gives back carts for checkouts. */
export class ClaimRepo extends Context.Service<ClaimRepo, {
  /**
   * Claims an active cart for this checkout and reads everything about it, in one statement for all checkouts that wait
   * for it. Repeating it for the same
   * checkout finds the claim again. Undefined when the organization has no such cart.
   */
  readonly claim: (
    cartId: string,
    checkoutId: string,
    visitor: CartVisitor,
    currency: string
  ) => Effect.Effect<ClaimedCart | undefined, never, CurrentActor>
  /** Gives the cart back to the shopper, if this checkout holds it (contract §3.2). */
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
          const found = new Map(rows.map((row) => [row.n, { row }]))
          return claims.map((_, n) => found.get(n))
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

const toClaimed = (row: ClaimRow): ClaimedCart => ({
  claimed: row.claimed,
  admitted: row.admitted,
  status: row.status,
  expired: row.expired,
  currency: row.currency,
  customerId: row.customer_id,
  email: row.email,
  customerGroupIds: row.group_ids ?? [],
  secretHash: row.secret_hash,
  lines: row.lines,
  ours: row.ours,
  ordered: row.ordered
})
