import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { BasketRepo, basketRepoLayer } from "../../src/domain/checkout/BasketRepo.ts"
import { CheckoutRunRepo, type RunLost, type RunToken } from "../../src/domain/checkout/CheckoutRunRepo.ts"
import {
  CreateOrderRepo,
  createOrderRepoLayer,
  undoCreateOrderRepoLayer
} from "../../src/domain/checkout/CreateOrderRepo.ts"
import { UndoCreateOrder } from "../../src/domain/orders/OrderStatus.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import type { CheckoutFailed } from "../../src/domain/platform/errors/ApiErrors.ts"
import { type CustomerId, newId, type PromotionId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { claimCart } from "../../src/workflows/checkout/CheckoutCart.ts"
import { atOnce } from "../support/AtOnce.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { at } from "../support/TestApp.ts"
import { aPendingOrder, inStore } from "./NewOrder.ts"

const repos = Layer.mergeAll(
  createOrderRepoLayer,
  basketRepoLayer,
  undoCreateOrderRepoLayer,
  Layer.provide(CartRepo.layer, StoreSettings.layerOf({})),
  CheckoutRunRepo.layer
).pipe(Layer.provideMerge(TestDatabase))

type Pending = Effect.Success<ReturnType<typeof aPendingOrder>>

const aPromotion = Effect.fnUntraced(function*(perCustomer: number | null = null) {
  const sql = yield* SqlClient.SqlClient
  const promotionId = newId<PromotionId>()
  yield* sql`insert into promotions (id, organization_id, name, type, value)
    values (${promotionId}::uuid, 'org_default', 'P', 'free_shipping', 0)`
  const rest = { code: null, type: "free_shipping", discountAmount: 0, freeShipping: true, description: "P" }
  return { promotionId, ...rest, perCustomer }
})

const create = (newOrder: Pending) => Effect.flatMap(CreateOrderRepo, (repo) => inStore(repo.create(newOrder)))
const undo = ({ order }: Pending) => Effect.flatMap(UndoCreateOrder, (repo) => inStore(repo.undo(order.id)))

const exists = ({ order }: Pending) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select 1 from orders where id = ${order.id}::uuid`)

layer(repos, { excludeTestServices: true })("creating an order", (it) => {
  it.effect("creates one order for two runs of its checkout at once, and neither run fails", () =>
    Effect.gen(function*() {
      const newOrder = yield* aPendingOrder()
      const outcomes = yield* atOnce(
        (sql) => sql`select 1 from holds where holder = ${newOrder.order.id} for update`,
        [create(newOrder), create(newOrder)]
      )
      assert.deepStrictEqual([...outcomes].sort(), ["created", "exists"])
    }))

  it.effect("writes nothing without its live hold and its claimed cart", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const losses: ReadonlyArray<readonly [table: "holds" | "carts", set: string]> = [
        ["holds", "state = 'expired'"],
        ["holds", "state = 'sold'"],
        ["holds", "organization_id = 'org_elsewhere'"],
        ["carts", "organization_id = 'org_elsewhere'"],
        ["carts", "status = 'active'"],
        ["carts", `checkout_id = '${newId()}'`]
      ]
      for (const [table, set] of losses) {
        const newOrder = yield* aPendingOrder()
        const { cartId, order: { id } } = newOrder
        const of = table === "holds" ? sql`holder = ${id}` : sql`id = ${cartId}::uuid`
        yield* sql`update ${sql(table)} set ${sql.literal(set)} where ${of}`
        const rows = sql`select h.state, c.status, c.version from holds h, carts c
          where h.holder = ${id} and c.id = ${cartId}::uuid`
        const before = yield* rows
        assert.strictEqual(yield* create(newOrder), "reservation-expired", set)
        assert.deepStrictEqual(yield* rows, before, set)
        assert.deepStrictEqual(yield* exists(newOrder), [], set)
      }
    }))

  it.effect("writes no order when the cart is taken away in that very moment", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const loss of [sql`status = 'active'`, sql`checkout_id = ${newId()}::uuid`]) {
        const newOrder = yield* aPendingOrder()
        const outcomes = yield* atOnce(
          () => sql`update carts set ${loss} where id = ${newOrder.cartId}::uuid`,
          [create(newOrder)]
        )
        assert.deepStrictEqual(outcomes, ["reservation-expired"])
        assert.deepStrictEqual(yield* exists(newOrder), [])
      }
    }))

  it.effect("does not report another tenant's order of the same id as created", () =>
    Effect.gen(function*() {
      const newOrder = yield* aPendingOrder()
      yield* create(newOrder)
      const order = { ...newOrder.order, organizationId: "org_elsewhere" }
      const elsewhere = (yield* CreateOrderRepo).create({ ...newOrder, order })
      const outcome = yield* Effect.provideService(Effect.flip(elsewhere), CurrentActor, systemActor("org_elsewhere"))
      assert.strictEqual(outcome._tag, "RunLost")
      assert.strictEqual(yield* create(newOrder), "exists")
    }))

  for (const [whose, total, perCustomer] of [["all", 1, null], ["one customer's", null, 1]] as const) {
    it.effect(`gives the last of ${whose} uses of a promotion to one of two checkouts at once`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        // One of another process: within one, they would share a statement or follow one another.
        const another = yield* Layer.build(Layer.fresh(createOrderRepoLayer))
        const promotion = yield* aPromotion(perCustomer)
        const ofIt = sql`id = ${promotion.promotionId}::uuid`
        yield* sql`update promotions set usage_limit_total = ${total}::int where ${ofIt}`
        const customerId = newId<CustomerId>()
        const [one, other] = [
          yield* aPendingOrder([promotion], customerId),
          yield* aPendingOrder([promotion], customerId)
        ]
        const outcomes = yield* atOnce(
          () => sql`select 1 from promotions where ${ofIt} for update`,
          [create(one), inStore(Context.get(another, CreateOrderRepo).create(other))].map((two) => Effect.result(two))
        )
        const recorded = outcomes.map((two) => Result.isSuccess(two) ? two.success : two.failure._tag)
        assert.deepStrictEqual(recorded.toSorted(), ["CheckoutFailed", "created"])
        assert.deepStrictEqual(yield* sql`select used_count from promotions where ${ofIt}`, [{ used_count: 1 }])
      }))
  }

  it.effect("does not deadlock with the undoing of another order of the same customer and promotions", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const promotions = yield* Effect.replicateEffect(aPromotion(), 3)
      const customerId = newId<CustomerId>()
      const [old, young] = [yield* aPendingOrder(promotions, customerId), yield* aPendingOrder(promotions, customerId)]
      yield* create(old)
      yield* sql`update orders set status = 'cancelled' where id = ${old.order.id}::uuid`
      yield* atOnce<unknown, CheckoutFailed | RunLost, CreateOrderRepo | UndoCreateOrder>(
        (sql) => sql`select 1 from promotion_buyer_usages where buyer = ${`customer:${customerId}`} for update`,
        [undo(old), create(young)]
      )
      const used = yield* sql<{ used: number }>`select used_count as used from promotions
        where id = any(${promotions.map(({ promotionId }) => promotionId)}::uuid[])
        union all select used_count from promotion_buyer_usages where buyer = ${`customer:${customerId}`}`
      assert.deepStrictEqual(used.map((row) => row.used), [1, 1, 1, 1, 1, 1])
    }))
})

layer(repos, { excludeTestServices: true })("settling and undoing an order", (it) => {
  it.effect("captures an order once, however often that is reported, and never a cancelled one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { settle } = yield* CreateOrderRepo
      const { id } = yield* buildOrder({ captured: null })
      for (const amount of [900, 700]) {
        assert.strictEqual((yield* inStore(settle(id, "pi_1", { total: amount, parts: [] })))?.amountCaptured, 900)
      }
      const rows = yield* sql`select amount_captured::int4 as captured from orders where id = ${id}::uuid`
      assert.deepStrictEqual(rows, [{ captured: 900 }])
      const cancelled = yield* buildOrder({ captured: null, status: "cancelled" })
      assert.isUndefined(yield* inStore(settle(cancelled.id, "pi_1", { total: 900, parts: [] })))
    }))

  it.effect("returns usage and cart of a cancelled order once, keeps a paid order's cart, and leaves any other order", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const cases: ReadonlyArray<readonly [set: string, cart: string, used: number]> = [
        ["status = 'pending'", "checked_out", 1],
        ["status = 'cancelled', amount_captured = 1000", "checked_out", 0],
        ["status = 'cancelled'", "active", 0]
      ]
      for (const [set, cart, used] of cases) {
        const newOrder = yield* aPendingOrder([yield* aPromotion()], newId<CustomerId>())
        const { cartId, order } = newOrder
        yield* create(newOrder)
        yield* sql`update orders set ${sql.literal(set)} where id = ${order.id}::uuid`
        yield* Effect.all([undo(newOrder), undo(newOrder)], { concurrency: 2 })
        yield* undo(newOrder)
        yield* inStore((yield* BasketRepo).release(cartId, { checkoutId: order.id, owner: newOrder.owner }))
        const rows = yield* sql`select c.status as cart, p.used_count as used, u.used_count as by_customer,
            (select count(*)::int4 from promotion_usages where promotion_id = p.id) as usages
          from carts c, promotions p join promotion_buyer_usages u on u.promotion_id = p.id
          where c.id = ${cartId}::uuid and u.buyer = ${`customer:${order.customerId}`}`
        assert.deepStrictEqual(rows, [{ cart, used, by_customer: used, usages: used }], set)
      }
    }))
})

layer(repos, { excludeTestServices: true })("claiming a cart", (it) => {
  it.effect("claims it for one of two runs of one checkout at once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { cartId, order } = yield* aPendingOrder()
      yield* sql`update carts set status = 'active', checkout_id = null where id = ${cartId}::uuid`
      yield* sql`delete from checkout_runs where id = ${order.id}::uuid`
      const run = inStore(claimCart({
        owner: newId<RunToken>(),
        process: 1,
        checkoutId: order.id,
        actor: systemActor("org_default"),
        customerId: null,
        secretHash: null,
        request: { cartId, paymentMethodId: "test", currency: CurrencyCode.make("USD") },
        requestHash: "",
        idempotencyKey: null
      }))
      const claims = yield* atOnce(
        (sql) => sql`select 1 from carts where id = ${cartId}::uuid for update`,
        [Effect.result(run), Effect.result(run)]
      )
      const outcomes = claims.map((claim) => Result.isSuccess(claim) ? claim.success.claimed : claim.failure._tag)
      assert.sameDeepMembers(outcomes, [true, "StillRunning"])
    }))

  it.effect("does not claim it without the line that is added in that very moment", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [baskets, carts] = [yield* BasketRepo, yield* CartRepo]
      const { cartId, order } = yield* aPendingOrder()
      yield* sql`update carts set status = 'active', checkout_id = null where id = ${cartId}::uuid`
      yield* sql`delete from checkout_runs where id = ${order.id}::uuid`
      const found = yield* inStore(carts.find(cartId))
      const [line] = found?.lines ?? []
      if (found === undefined || line === undefined) return assert.fail("The cart is not there.")
      const visitor = { actor: systemActor("org_default"), customerId: null, secretHash: null }
      const claim = inStore(
        baskets.claim(order.id, visitor, { cartId, currency: CurrencyCode.make("USD") }, {
          owner: newId(),
          process: 1,
          payload: "{}"
        })
      )
      const [, claimed] = yield* atOnce<unknown, never, never>(
        () => sql`select 1 from carts where id = ${cartId}::uuid for update`,
        [inStore(carts.addLine(found, { ...line, id: newId(), entityId: newId() })), claim]
      )
      assert.strictEqual(at(claimed, "claimed"), false)
      const again = yield* claim
      assert.deepStrictEqual([again?.claimed, again?.lines.length], [true, 2])
    }))
})
