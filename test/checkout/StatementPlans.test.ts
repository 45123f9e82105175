import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { chosenLine } from "../../src/domain/carts/Line.ts"
import { BasketRepo, basketRepoLayer } from "../../src/domain/checkout/BasketRepo.ts"
import { CreateOrderRepo, createOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { systemActor } from "../../src/domain/platform/access/Actor.ts"
import { type CartLineId, newId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { plansOf, recording } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { aPendingOrder, inStore } from "./NewOrder.ts"

const repos = Layer.mergeAll(
  createOrderRepoLayer,
  basketRepoLayer,
  Layer.provide(CartRepo.layer, StoreSettings.layerOf({}))
)
  .pipe(
    Layer.provide(recording),
    Layer.provideMerge(TestDatabase)
  )

/** As many rows as a store has after its first minutes: reading them all still looks cheap to the planner. */
const aYoungStore = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
    select gen_random_uuid(), 'org_default', 'active', 'USD', 'h', now() + interval '1 day' from generate_series(1, 3000)`
  yield* sql`insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
    select gen_random_uuid(), organization_id, id, gen_random_uuid(), 1, 1000, 'USD' from carts`
  yield* sql`insert into cart_lines_with_metadata
      (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency, metadata, metadata_hash)
    select gen_random_uuid(), organization_id, id, gen_random_uuid(), 1, 1000, 'USD', '{"a": 1}', 'hash' from carts`
  yield* sql`insert into holds (organization_id, holder, state, expires_at)
    select 'org_default', gen_random_uuid()::text, 'held', now() + interval '1 day' from generate_series(1, 3000)`
  yield* sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total, shipping_total,
      discount_total, grand_total)
    select gen_random_uuid(), 'org_default', 'ORD-1999-' || n, 'pending', 'USD', 1, 0, 0, 0, 1 from generate_series(1, 3000) n`
  yield* sql`analyze carts, cart_lines, cart_lines_with_metadata, holds, orders`
})

it.layer(repos, { excludeTestServices: true })("the statements that requests share", (it) => {
  it.effect("read no whole table, also while the tables are young", () =>
    Effect.gen(function*() {
      yield* aYoungStore
      const carts = yield* CartRepo
      const { claim } = yield* BasketRepo
      const { create, settleCheckout } = yield* CreateOrderRepo
      const newOrder = yield* aPendingOrder()
      const { id } = newOrder.order
      const visitor = { actor: systemActor("org_default"), customerId: null, secretHash: null }
      const state = yield* inStore(carts.state(newOrder.cartId))
      if (state === undefined) return assert.fail("the cart is gone")
      const line = {
        ...chosenLine({ entityId: newId(), quantity: 1 }),
        id: newId<CartLineId>(),
        cartId: newOrder.cartId
      }
      const priced = { ...line, unitPriceSnapshot: 1, currency: "USD", addedAt: new Date() }
      const shared = [
        plansOf(
          inStore(
            carts.offer({
              cart: newOrder.cartId,
              entity: line.entityId,
              variant: null,
              metadata: {},
              now: priced.addedAt
            })
          )
        ),
        plansOf(inStore(carts.addLine(state, priced))),
        plansOf(inStore(claim(id, visitor, { cartId: newOrder.cartId, currency: CurrencyCode.make("USD") }, null))),
        plansOf(inStore(create(newOrder))),
        plansOf(
          inStore(settleCheckout({ checkoutId: id, owner: newOrder.owner }, true, "pi", { total: 1000, parts: [] }))
        )
      ]
      for (const plans of shared) {
        const [plan = ""] = yield* plans
        assert.notEqual(plan, "")
        assert.notMatch(plan, /Seq Scan on (carts|cart_lines|holds|orders|checkout_runs)/)
      }
    }))
})
