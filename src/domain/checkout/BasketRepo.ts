import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { cartLines, type CartVisitor } from "../carts/Cart.ts"
import type { ChosenLine } from "../carts/Line.ts"
import { BuyerProfile } from "../customers/BuyerProfile.ts"
import { MediaAddress } from "../media/MediaAsset.ts"
import { currentOrganization, holds, servesGuests } from "../platform/access/Actor.ts"
import * as GroupCommit from "../platform/batching/GroupCommitRepo.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { entityTables } from "../platform/hooks/EntityTables.ts"
import { CartId, CartLineId, CustomerId, isUuid, OrderId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { toCandidates } from "../pricing/PriceStatements.ts"
import { toPromotions } from "../promotions/CandidateStatements.ts"
import { normalizeCodes } from "../promotions/PromotionRules.ts"
import type { CheckoutRequest } from "./Checkout.ts"
import type { RunOwner } from "./CheckoutRunRepo.ts"
import {
  basket,
  type BasketQuery,
  type BasketRow,
  basketStatement,
  type Claim,
  type ClaimedCart,
  claimStatement,
  shownBasket
} from "./ClaimStatements.ts"
import { buyerOf, ClaimedLine } from "./PricedCart.ts"
import { catalogOf, sellableSnapshot } from "./SellableStatements.ts"

const SellableSnapshot = Schema.Struct({
  ...ClaimedLine.fields,
  variantFound: Schema.Boolean,
  hasVariants: Schema.Boolean
})
export type SellableSnapshot = typeof SellableSnapshot.Type

const CartBasket = Schema.Struct({
  currency: Schema.String,
  customerId: Schema.NullOr(CustomerId),
  profile: Schema.NullOr(BuyerProfile),
  email: Schema.NullOr(Schema.String),
  secretHash: Schema.String,
  customerGroupIds: Schema.Array(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  lines: Schema.Array(Schema.Struct({ ...ClaimedLine.fields, cartLineId: CartLineId }))
})

const stuckAfter = "5 minutes"

const StuckCart = Schema.Struct({
  id: CartId,
  organizationId: Schema.String,
  checkoutId: OrderId,
  version: Schema.Int
})
export type StuckCart = typeof StuckCart.Type

const withCandidates = <Row extends BasketRow>({ entities, modifiers, prices, promotions, ...cart }: Row) => ({
  ...cart,
  candidates: { prices: toCandidates({ entities, modifiers, prices }), promotions: toPromotions(promotions) }
})

const makeStuck = (sql: SqlClient.SqlClient) => {
  const stuckCarts = decoding(sql, StuckCart)
  // The claim of a cart writes its run in the same statement.
  const withoutRun = sql`c.status = 'checking_out'
    and not exists (select 1 from checkout_runs r where r.id = c.checkout_id)
    and not exists (select 1 from orders_read o where o.id = c.checkout_id)`

  const stuck = Effect.fn("BasketRepo.stuck")(
    (limit: number) =>
      stuckCarts`select c.id, c.organization_id as "organizationId", c.checkout_id as "checkoutId",
          c.version::float8 as version
        from carts c where ${withoutRun} and c.updated_at < now() - ${stuckAfter}::interval limit ${limit}`,
    Effect.orDie
  )

  const releaseStuck = Effect.fn("BasketRepo.releaseStuck")(function*({ id, version }: StuckCart) {
    // Another claim changes the version; this statement may not see the run of that claim.
    const released = yield* sql`update carts c
      set status = 'active', checkout_id = null, version = c.version + 1, updated_at = now()
      where c.id = ${id}::uuid and c.organization_id = ${yield* currentOrganization} and c.version = ${version}
        and ${withoutRun} returning 1`
    return released.length > 0
  }, Effect.orDie)
  return { stuck, releaseStuck }
}

/** Reads a cart with all that affects its price and what its reader sees of its lines, in one statement. */
const priced = (sql: SqlClient.SqlClient, address: string) => {
  const shown = shownBasket(address)
  return Effect.fn("BasketRepo.priced")(function*(query: Omit<BasketQuery, "organization">) {
    const row = yield* basketStatement(sql, { ...query, organization: yield* currentOrganization }, shown)
    return row && withCandidates(row)
  }, Effect.orDie)
}

const makeClaiming = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, read: string) {
  const tables = yield* entityTables
  return yield* GroupCommit.make<Claim, { readonly cart: ClaimedCart | undefined }>({
    name: "checkout.claim",
    together: (claims) =>
      Effect.map(claimStatement(sql, claims, "skip locked", tables, read), (carts) => {
        const byIndex = new Map(carts.map((cart) => [cart.n, { cart: withCandidates(cart) }]))
        return claims.map((_, n) => byIndex.get(n))
      }),
    alone: (claim) =>
      Effect.map(claimStatement(sql, [claim], "", tables, read), ([cart]) => ({ cart: cart && withCandidates(cart) }))
  })
})

export class BasketRepo extends Context.Service<BasketRepo>()("stoa/domain/checkout/BasketRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const lookups = yield* lookupSql
    const address = yield* MediaAddress
    const read = basket(address)
    const claiming = yield* makeClaiming(sql, read)

    /**
     * Claims an active cart, or one that a recorded run has claimed (`run` is null), and reads it for pricing; one
     * statement for all waiting checkouts.
     */
    const claim = Effect.fn("BasketRepo.claim")(
      function*(
        checkoutId: OrderId,
        { actor, customerId, secretHash }: CartVisitor,
        request: Pick<CheckoutRequest, "cartId" | "currency" | "customerId" | "email" | "promotionCodes">,
        run: Claim["run"]
      ) {
        const { named, own } = buyerOf(actor, request.customerId, customerId)
        const claimed = yield* claiming({
          cart: request.cartId,
          checkout: checkoutId,
          run,
          organization: actor.organizationId,
          customer: customerId,
          secret: secretHash,
          serves: servesGuests(actor, "cart:update"),
          everything: holds(actor, "*:*"),
          currency: request.currency,
          codes: request.promotionCodes === undefined ? null : normalizeCodes(request.promotionCodes),
          email: request.email ?? null,
          named: named !== null && isUuid(named) ? named : null,
          own,
          now: DateTime.toDateUtc(yield* DateTime.now)
        })
        return claimed.cart
      },
      Effect.orDie
    )

    const release = Effect.fn("BasketRepo.release")(function*(cartId: CartId, { checkoutId, owner }: RunOwner) {
      const organization = yield* currentOrganization
      yield* sql`with ended as (delete from checkout_runs
          where id = ${checkoutId}::uuid and organization_id = ${organization} and owner = ${owner}::uuid)
        update carts set status = 'active', checkout_id = null, version = version + 1, updated_at = now()
        where id = ${cartId}::uuid and organization_id = ${organization} and checkout_id = ${checkoutId}::uuid
          and status = 'checking_out'`
    }, Effect.orDie)

    const ofLines = Effect.fn("BasketRepo.ofLines")(function*(requested: ReadonlyArray<ChosenLine>) {
      const organization = yield* currentOrganization
      const rows = yield* decoding(
        sql,
        Schema.Struct({ snapshot: SellableSnapshot })
      )`with c as (select ${organization}::text as organization_id)
        select ${sql.literal(sellableSnapshot(address))} || jsonb_build_object('variantFound', v.id is not null,
          'hasVariants', coalesce((select true from variants_read x where x.entity_id = e.id limit 1), false)) as snapshot
        from c cross join jsonb_array_elements(${JSON.stringify(requested)}::jsonb) with ordinality t(line, n)
          cross join ${sql.literal(cartLines.row("t.line"))} l ${sql.literal(catalogOf("l", "c"))}
        order by t.n`
      return rows.map(({ snapshot }) => snapshot)
    }, Effect.orDie)

    const ofCart = Effect.fn("BasketRepo.ofCart")(function*(cartId: CartId) {
      const [cart] = yield* decoding(lookups, CartBasket)`select ${lookups.literal(read)}
        from (select *, email as buyer_email from carts) c where c.id = ${cartId}::uuid and c.organization_id = ${yield* currentOrganization}`
      return cart
    }, Effect.orDie)

    return { claim, release, ofLines, ofCart, priced: priced(lookups, address), ...makeStuck(sql) }
  })
}) {}

export const basketRepoLayer = Layer.effect(BasketRepo, BasketRepo.make)
