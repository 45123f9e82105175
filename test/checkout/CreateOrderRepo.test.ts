import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { CartLineRepo, cartLineRepoLayer } from "../../src/domain/carts/CartLineRepo.ts"
import { CartRepo, cartRepoLayer } from "../../src/domain/carts/CartRepo.ts"
import { BasketRepo, basketRepoLayer } from "../../src/domain/checkout/BasketRepo.ts"
import {
  CreateOrderRepo,
  createOrderRepoLayer,
  undoCreateOrderRepoLayer
} from "../../src/domain/checkout/CreateOrderRepo.ts"
import type { CheckoutFailed } from "../../src/domain/errors/ApiErrors.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/money/Currency.ts"
import { UndoCreateOrder } from "../../src/domain/orders/OrderStatus.ts"
import { claimCart } from "../../src/workflows/checkout/Checkout.ts"
import type { CheckoutPayload } from "../../src/workflows/checkout/Checkouts.ts"
import { atOnce } from "../support/AtOnce.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { at } from "../support/TestApp.ts"
import { aPendingOrder, inStore } from "./NewOrder.ts"

const repos = Layer.mergeAll(
  createOrderRepoLayer,
  basketRepoLayer,
  undoCreateOrderRepoLayer,
  cartRepoLayer,
  cartLineRepoLayer
).pipe(
  Layer.provideMerge(TestDatabase)
)

const aPayload = (cartId: string, checkoutId: string): CheckoutPayload => ({
  checkoutId,
  actor: systemActor("org_default"),
  customerId: null,
  secretHash: null,
  request: { cartId, paymentMethodId: "test", currency: CurrencyCode.make("USD") },
  requestHash: "",
  idempotencyKey: null
})

type Statement = Effect.Effect<unknown, SqlError.SqlError>

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
      const { create } = yield* CreateOrderRepo
      const newOrder = yield* aPendingOrder()
      const placed = yield* atOnce(
        (sql) => sql`select 1 from holds where holder = ${newOrder.order.id} for update`,
        [inStore(create(newOrder)), inStore(create(newOrder))]
      )
      assert.deepStrictEqual([...placed].sort(), ["created", "exists"])
    }))

  it.effect("is refused when the reservation is gone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const newOrder = yield* aPendingOrder()
      yield* sql`update holds set state = 'expired' where holder = ${newOrder.order.id}`
      assert.strictEqual(yield* inStore((yield* CreateOrderRepo).create(newOrder)), "reservation-expired")
    }))

  const lost: ReadonlyArray<readonly [what: string, lose: (sql: SqlClient.SqlClient, id: string) => Statement]> = [
    [
      "the hold is another organization's",
      (sql, id) => sql`update holds set organization_id = 'org_elsewhere' where holder = ${id}`
    ],
    ["the hold was sold already", (sql, id) => sql`update holds set state = 'sold' where holder = ${id}`],
    [
      "the cart is another organization's",
      (sql, id) => sql`update carts set organization_id = 'org_elsewhere' where checkout_id = ${id}::uuid`
    ],
    ["the cart was given back", (sql, id) => sql`update carts set status = 'active' where checkout_id = ${id}::uuid`],
    [
      "another checkout has the cart",
      (sql, id) => sql`update carts set checkout_id = ${newId()}::uuid where checkout_id = ${id}::uuid`
    ]
  ]
  for (const [what, lose] of lost) {
    it.effect(`writes nothing at all when ${what}`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const newOrder = yield* aPendingOrder()
        yield* lose(sql, newOrder.order.id)
        const rows = sql`select h.state, c.status, c.version from holds h, carts c
          where h.holder = ${newOrder.order.id} and c.id = ${newOrder.cartId}::uuid`
        const before = yield* rows
        assert.strictEqual(yield* inStore((yield* CreateOrderRepo).create(newOrder)), "reservation-expired")
        assert.deepStrictEqual(yield* rows, before)
        assert.deepStrictEqual(yield* sql`select 1 from orders where id = ${newOrder.order.id}::uuid`, [])
      }))
  }

  it.effect("writes no order when the cart is taken away in that very moment", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const loss of [sql`status = 'active'`, sql`checkout_id = ${newId()}::uuid`]) {
        const newOrder = yield* aPendingOrder()
        const placed = yield* atOnce(
          () => sql`update carts set ${loss} where id = ${newOrder.cartId}::uuid`,
          [inStore((yield* CreateOrderRepo).create(newOrder))]
        )
        assert.deepStrictEqual(placed, ["reservation-expired"])
        assert.deepStrictEqual(yield* sql`select 1 from orders where id = ${newOrder.order.id}::uuid`, [])
      }
    }))

  it.effect("is not taken for done because of an order of another organization", () =>
    Effect.gen(function*() {
      const { create } = yield* CreateOrderRepo
      const newOrder = yield* aPendingOrder()
      yield* inStore(create(newOrder))
      const order = { ...newOrder.order, organizationId: "org_elsewhere" }
      const outcome = Effect.provideService(create({ ...newOrder, order }), CurrentActor, systemActor("org_elsewhere"))
      assert.strictEqual(yield* outcome, "reservation-expired")
      assert.strictEqual(yield* inStore(create(newOrder)), "exists")
    }))

  it.effect("is final: neither its cart nor its usage is given back unless it was cancelled", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const promotion = yield* aPromotion()
      const newOrder = yield* aPendingOrder([promotion])
      yield* inStore((yield* CreateOrderRepo).create(newOrder))
      yield* inStore((yield* UndoCreateOrder).undo(newOrder.order.id))
      yield* inStore((yield* BasketRepo).release(newOrder.cartId, newOrder.order.id))
      const left = yield* sql`select c.status, p.used_count from carts c, promotions p
        where c.id = ${newOrder.cartId}::uuid and p.id = ${promotion.promotionId}::uuid`
      assert.deepStrictEqual(left, [{ status: "checked_out", used_count: 1 }])
    }))

  for (const [whose, limits] of [["anybody's", [1, null]], ["one customer's", [null, 1]]] as const) {
    it.effect(`at once by two checkouts uses up the last of ${whose} uses once`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        // One of another process: within one, they would share a statement or follow one another.
        const processes = [
          yield* CreateOrderRepo,
          yield* Layer.build(Layer.fresh(createOrderRepoLayer)).pipe(
            Effect.map(Context.get(CreateOrderRepo))
          )
        ]
        const promotion = { ...yield* aPromotion(), perCustomer: limits[1] }
        const ofIt = sql`id = ${promotion.promotionId}::uuid`
        yield* sql`update promotions set usage_limit_total = ${limits[0]}::int where ${ofIt}`
        const customerId = newId()
        const newOrders = [yield* aPendingOrder([promotion], customerId), yield* aPendingOrder([promotion], customerId)]
        const outcomes = yield* atOnce(
          () => sql`select 1 from promotions where ${ofIt} for update`,
          processes.flatMap(({ create }, index) =>
            newOrders.slice(index, index + 1).map((one) => Effect.result(inStore(create(one))))
          )
        )
        const recorded = outcomes.map((one) => Result.isSuccess(one) ? one.success : one.failure._tag)
        assert.deepStrictEqual(recorded.toSorted(), ["CheckoutFailed", "created"])
        assert.deepStrictEqual(yield* sql`select used_count from promotions where ${ofIt}`, [{ used_count: 1 }])
      }))
  }

  it.effect("and taking back another one of the same customer and promotions never wait for each other in a circle", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { create } = yield* CreateOrderRepo
      const { undo } = yield* UndoCreateOrder
      const promotions = [yield* aPromotion(), yield* aPromotion(), yield* aPromotion()]
      const customerId = newId()
      const [old, young] = [yield* aPendingOrder(promotions, customerId), yield* aPendingOrder(promotions, customerId)]
      yield* inStore(create(old))
      yield* sql`update orders set status = 'cancelled' where id = ${old.order.id}::uuid`
      yield* atOnce<unknown, CheckoutFailed, never>(
        (sql) => sql`select 1 from promotion_buyer_usages where buyer = ${`customer:${customerId}`} for update`,
        [inStore(undo(old.order.id)), inStore(create(young))]
      )
      const used = yield* sql<{ used: number }>`select used_count as used from promotions
        where id = any(${promotions.map(({ promotionId }) => promotionId)}::uuid[])
        union all select used_count from promotion_buyer_usages where buyer = ${`customer:${customerId}`}`
      assert.deepStrictEqual(used.map((row) => row.used), [1, 1, 1, 1, 1, 1])
    }))
})

layer(repos, { excludeTestServices: true })("the money of an order", (it) => {
  it.effect("is captured once, however often that is reported", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { settle } = yield* CreateOrderRepo
      const { id } = yield* buildOrder({ captured: null })
      assert.strictEqual((yield* inStore(settle(id, "pi_1", 900)))?.amountCaptured, 900)
      assert.strictEqual((yield* inStore(settle(id, "pi_1", 700)))?.amountCaptured, 900)
      assert.deepStrictEqual(yield* sql`select amount_captured::int4 as captured from orders where id = ${id}::uuid`, [
        { captured: 900 }
      ])
    }))

  it.effect("is not captured for an order that was cancelled before", () =>
    Effect.gen(function*() {
      const { id } = yield* buildOrder({ captured: null, status: "cancelled" })
      assert.isUndefined(yield* inStore((yield* CreateOrderRepo).settle(id, "pi_1", 900)))
    }))
})

layer(repos, { excludeTestServices: true })("taking back what an order took", (it) => {
  const after = Effect.fnUntraced(function*({ cartId, order }: Effect.Success<ReturnType<typeof aPendingOrder>>) {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ cart: string; used: number; by_customer: number; usages: number }>`
      select c.status as cart, p.used_count as used, u.used_count as by_customer,
        (select count(*)::int4 from promotion_usages where promotion_id = p.id) as usages
      from carts c, promotions p join promotion_buyer_usages u on u.promotion_id = p.id
      where c.id = ${cartId}::uuid and u.buyer = ${`customer:${order.customerId}`}`
    return rows[0]
  })

  const aUsedPromotion = Effect.fnUntraced(function*() {
    const newOrder = yield* aPendingOrder([yield* aPromotion()], newId())
    yield* inStore((yield* CreateOrderRepo).create(newOrder))
    assert.deepStrictEqual(yield* after(newOrder), { cart: "checked_out", used: 1, by_customer: 1, usages: 1 })
    return newOrder
  })

  it.effect("leaves an order alone that is not cancelled", () =>
    Effect.gen(function*() {
      const { undo } = yield* UndoCreateOrder
      const newOrder = yield* aUsedPromotion()
      yield* inStore(undo(newOrder.order.id))
      assert.deepStrictEqual(yield* after(newOrder), { cart: "checked_out", used: 1, by_customer: 1, usages: 1 })
    }))

  it.effect("gives usage and cart back once, however often it is done", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { undo } = yield* UndoCreateOrder
      const newOrder = yield* aUsedPromotion()
      yield* sql`update orders set status = 'cancelled' where id = ${newOrder.order.id}::uuid`
      yield* inStore(Effect.all([undo(newOrder.order.id), undo(newOrder.order.id)], { concurrency: 2 }))
      yield* inStore(undo(newOrder.order.id))
      assert.deepStrictEqual(yield* after(newOrder), { cart: "active", used: 0, by_customer: 0, usages: 0 })
    }))

  it.effect("keeps the cart of an order that was paid: its goods were bought, whatever became of them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { undo } = yield* UndoCreateOrder
      const newOrder = yield* aUsedPromotion()
      yield* sql`update orders set status = 'cancelled', amount_captured = 1000 where id = ${newOrder.order.id}::uuid`
      yield* inStore(undo(newOrder.order.id))
      assert.deepStrictEqual(yield* after(newOrder), { cart: "checked_out", used: 0, by_customer: 0, usages: 0 })
    }))
})

layer(repos, { excludeTestServices: true })("claiming a cart", (it) => {
  it.effect("twice at once, by two runs of one checkout, is seen as its own claim by both", () =>
    Effect.gen(function*() {
      const { cartId, order } = yield* aPendingOrder()
      const payload = aPayload(cartId, order.id)
      const claims = yield* atOnce(
        (sql) => sql`select 1 from carts where id = ${cartId}::uuid for update`,
        [inStore(claimCart(payload)), inStore(claimCart(payload))]
      )
      assert.deepStrictEqual(claims.map(({ claimed }) => claimed), [true, true])
    }))

  it.effect("is not had by whoever misses the line that is added in that very moment", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [claims, carts, lines] = [yield* BasketRepo, yield* CartRepo, yield* CartLineRepo]
      const { cartId, order } = yield* aPendingOrder()
      yield* sql`update carts set status = 'active', checkout_id = null where id = ${cartId}::uuid`
      const found = yield* inStore(carts.find(cartId))
      const [line] = found?.lines ?? []
      if (found === undefined || line === undefined) return assert.fail("The cart is not there.")
      const visitor = { actor: systemActor("org_default"), customerId: null, secretHash: null }
      const [, claimed] = yield* atOnce<unknown, never, never>(
        () => sql`select 1 from carts where id = ${cartId}::uuid for update`,
        [
          inStore(lines.add(found, { ...line, id: newId(), entityId: newId() })),
          inStore(claims.claim(cartId, order.id, visitor, "USD"))
        ]
      )
      assert.strictEqual(at(claimed, "claimed"), false)
      const again = yield* inStore(claims.claim(cartId, order.id, visitor, "USD"))
      assert.deepStrictEqual([again?.claimed, again?.lines.length], [true, 2])
    }))
})
