import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import type { Decision } from "../../src/domain/checkout/Checkout.ts"
import { claimRepoLayer } from "../../src/domain/checkout/ClaimRepo.ts"
import { PlaceRepo, placeRepoLayer } from "../../src/domain/checkout/PlaceRepo.ts"
import { UnplaceRepo, unplaceRepoLayer } from "../../src/domain/checkout/UnplaceRepo.ts"
import type { CheckoutFailed } from "../../src/domain/errors/ApiErrors.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/money/Currency.ts"
import type { Order } from "../../src/domain/orders/Order.ts"
import type { CheckoutPayload } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { claimCart } from "../../src/workflows/checkout/ClaimStep.ts"
import { TestDatabase } from "../support/Postgres.ts"

const repos = Layer.mergeAll(placeRepoLayer, claimRepoLayer, unplaceRepoLayer).pipe(Layer.provideMerge(TestDatabase))

const inStore = Effect.provideService(CurrentActor, systemActor("org_default"))

const aPayload = (cartId: string, checkoutId: string): CheckoutPayload => ({
  checkoutId,
  actor: systemActor("org_default"),
  customerId: null,
  secretHash: null,
  request: { cartId, paymentMethodId: "test", currency: CurrencyCode.make("USD") },
  requestHash: "",
  idempotencyKey: null
})

let numbers = 0

/** A cart with one line, as a checkout has claimed it with stock held for it; the order its placing makes. */
const aPlacement = Effect.fnUntraced(
  function*(promotions: Decision["promotions"] = [], customerId: string | null = null) {
    const sql = yield* SqlClient.SqlClient
    const [cartId, checkoutId, entityId] = [newId(), newId(), newId()]
    yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, checkout_id, expires_at)
    values (${cartId}::uuid, 'org_default', 'checking_out', 'USD', 'hash', ${checkoutId}::uuid, now() + interval '1 day')`
    yield* sql`insert into cart_lines (id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
    values (${newId()}::uuid, ${cartId}::uuid, ${entityId}::uuid, 1, 1000, 'USD')`
    yield* sql`insert into holds (organization_id, holder, expires_at)
    values ('org_default', ${checkoutId}, now() + interval '1 hour')`
    const line = {
      id: newId(),
      entityId,
      entityType: "product",
      variantId: null,
      sku: null,
      title: "A thing",
      quantity: 1,
      unitPrice: 1000,
      totalPrice: 1000,
      discountAmount: 0,
      taxAmount: 0
    }
    const totals = { subtotal: 1000, discountTotal: 0, taxTotal: 0, shippingTotal: 0, grandTotal: 1000 }
    const decision: Decision = {
      currency: "USD",
      customerId,
      cartSecretHash: "hash",
      lines: [line],
      promotions,
      rejectedCodes: [],
      metadata: {},
      ...totals
    }
    const order: Order = {
      id: checkoutId,
      organizationId: "org_default",
      orderNumber: `ORD-2020-${String(++numbers).padStart(6, "0")}`,
      customerId,
      status: "pending",
      currency: "USD",
      ...totals,
      amountCaptured: null,
      refundedTotal: 0,
      paymentIntentId: `pi_${checkoutId}`,
      paymentMethodId: "test",
      idempotencyKey: null,
      shippingAddress: null,
      metadata: {},
      placedAt: new Date(),
      updatedAt: new Date(),
      fulfilledAt: null,
      cancelledAt: null,
      lineItems: [{
        ...line,
        orderId: checkoutId,
        isCustomPrice: false,
        refundedQuantity: 0,
        fulfillmentStatus: "unfulfilled",
        metadata: {}
      }]
    }
    return { order, decision, cartId, idempotencyKey: null, provider: "test" }
  }
)

/** Waits until so many statements of this database wait for a lock. */
const waiting = (count: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const look = sql<{ waiting: number }>`select count(*)::int4 as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    yield* Effect.repeat(look, { until: (rows) => (rows[0]?.waiting ?? 0) >= count })
  })

/** Runs all of them at the same moment: each waits for the row that `lock` holds, in this order, until every one does. */
const atOnce = Effect.fnUntraced(
  function*<A, E, R>(
    lock: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>,
    all: ReadonlyArray<Effect.Effect<A, E, R>>
  ) {
    const sql = yield* SqlClient.SqlClient
    const locked = yield* Deferred.make<void>()
    const free = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      sql.withTransaction(
        lock(sql).pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(free))
        )
      )
    )
    yield* Deferred.await(locked)
    const fibers = yield* Effect.forEach(
      all,
      (one, index) => Effect.tap(Effect.forkChild(one), () => waiting(index + 1))
    )
    yield* Deferred.succeed(free, undefined)
    yield* Fiber.join(holder)
    return yield* Effect.forEach(fibers, Fiber.join)
  }
)

const aPromotion = Effect.fnUntraced(function*() {
  const sql = yield* SqlClient.SqlClient
  const promotionId = newId()
  yield* sql`insert into promotions (id, organization_id, name, type, value)
    values (${promotionId}::uuid, 'org_default', 'P', 'free_shipping', 0)`
  return {
    promotionId,
    code: null,
    type: "free_shipping",
    discountAmount: 0,
    freeShipping: true,
    description: "P",
    perCustomer: null
  }
})

layer(repos, { excludeTestServices: true })("placing an order", (it) => {
  it.effect("twice at once, by two runs of its checkout, gives one order, and neither run thinks it lost", () =>
    Effect.gen(function*() {
      const { place } = yield* PlaceRepo
      const placement = yield* aPlacement()
      const placed = yield* atOnce(
        (sql) => sql`select 1 from holds where holder = ${placement.order.id} for update`,
        [inStore(place(placement)), inStore(place(placement))]
      )
      assert.deepStrictEqual([...placed].sort(), ["already", "placed"])
    }))

  it.effect("is refused when the reservation is gone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const placement = yield* aPlacement()
      yield* sql`update holds set state = 'expired' where holder = ${placement.order.id}`
      assert.strictEqual(yield* inStore((yield* PlaceRepo).place(placement)), "reservation-gone")
    }))

  it.effect("and taking back another one of the same customer and promotions never wait for each other in a circle", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { place } = yield* PlaceRepo
      const { giveBack } = yield* UnplaceRepo
      const promotions = [yield* aPromotion(), yield* aPromotion(), yield* aPromotion()]
      const customerId = newId()
      const [old, young] = [yield* aPlacement(promotions, customerId), yield* aPlacement(promotions, customerId)]
      yield* inStore(place(old))
      yield* sql`update orders set status = 'cancelled' where id = ${old.order.id}::uuid`
      yield* atOnce<unknown, CheckoutFailed, never>(
        (sql) => sql`select 1 from promotion_customer_usages where customer_id = ${customerId}::uuid for update`,
        [inStore(giveBack(old.order.id)), inStore(place(young))]
      )
      const used = yield* sql<{ used: number }>`select used_count as used from promotions
        where id = any(${promotions.map(({ promotionId }) => promotionId)}::uuid[])
        union all select used_count from promotion_customer_usages where customer_id = ${customerId}::uuid`
      assert.deepStrictEqual(used.map((row) => row.used), [1, 1, 1, 1, 1, 1])
    }))
})

layer(repos, { excludeTestServices: true })("taking back what an order took", (it) => {
  const after = Effect.fnUntraced(function*({ cartId, order }: Effect.Success<ReturnType<typeof aPlacement>>) {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ cart: string; used: number; by_customer: number; usages: number }>`
      select c.status as cart, p.used_count as used, u.used_count as by_customer,
        (select count(*)::int4 from promotion_usages where promotion_id = p.id) as usages
      from carts c, promotions p join promotion_customer_usages u on u.promotion_id = p.id
      where c.id = ${cartId}::uuid and u.customer_id = ${order.customerId}::uuid`
    return rows[0]
  })

  const aUsedPromotion = Effect.fnUntraced(function*() {
    const placement = yield* aPlacement([yield* aPromotion()], newId())
    yield* inStore((yield* PlaceRepo).place(placement))
    assert.deepStrictEqual(yield* after(placement), { cart: "checked_out", used: 1, by_customer: 1, usages: 1 })
    return placement
  })

  it.effect("leaves an order alone that is not cancelled", () =>
    Effect.gen(function*() {
      const { giveBack } = yield* UnplaceRepo
      const placement = yield* aUsedPromotion()
      yield* inStore(giveBack(placement.order.id))
      assert.deepStrictEqual(yield* after(placement), { cart: "checked_out", used: 1, by_customer: 1, usages: 1 })
    }))

  it.effect("gives usage and cart back once, however often it is done", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { giveBack } = yield* UnplaceRepo
      const placement = yield* aUsedPromotion()
      yield* sql`update orders set status = 'cancelled' where id = ${placement.order.id}::uuid`
      yield* inStore(Effect.all([giveBack(placement.order.id), giveBack(placement.order.id)], { concurrency: 2 }))
      yield* inStore(giveBack(placement.order.id))
      assert.deepStrictEqual(yield* after(placement), { cart: "active", used: 0, by_customer: 0, usages: 0 })
    }))

  it.effect("keeps the cart of an order that was paid: its goods were bought, whatever became of them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { giveBack } = yield* UnplaceRepo
      const placement = yield* aUsedPromotion()
      yield* sql`update orders set status = 'cancelled', amount_captured = 1000 where id = ${placement.order.id}::uuid`
      yield* inStore(giveBack(placement.order.id))
      assert.deepStrictEqual(yield* after(placement), { cart: "checked_out", used: 0, by_customer: 0, usages: 0 })
    }))
})

layer(repos, { excludeTestServices: true })("claiming a cart", (it) => {
  it.effect("twice at once, by two runs of one checkout, is seen as its own claim by both", () =>
    Effect.gen(function*() {
      const { cartId, order } = yield* aPlacement()
      const payload = aPayload(cartId, order.id)
      const claims = yield* atOnce(
        (sql) => sql`select 1 from carts where id = ${cartId}::uuid for update`,
        [inStore(claimCart(payload)), inStore(claimCart(payload))]
      )
      assert.deepStrictEqual(claims.map(({ claimed }) => claimed), [true, true])
    }))
})
