import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import type { CartState } from "../../src/domain/carts/Cart.ts"
import { CartLineRepo, cartLineRepoLayer } from "../../src/domain/carts/CartLineRepo.ts"
import { CartRepo, cartRepoLayer } from "../../src/domain/carts/CartRepo.ts"
import { ClaimRepo, claimRepoLayer } from "../../src/domain/checkout/ClaimRepo.ts"
import { CreateOrderRepo, createOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { UndoCreateOrder } from "../../src/domain/checkout/UndoCreateOrder.ts"
import { undoCreateOrderRepoLayer } from "../../src/domain/checkout/UndoCreateOrderRepo.ts"
import { CustomerRepo, customerRepoLayer } from "../../src/domain/customers/CustomerRepo.ts"
import { FulfillmentRepo, fulfillmentRepoLayer } from "../../src/domain/fulfillment/FulfillmentRepo.ts"
import { keyDigest } from "../../src/domain/idempotency/EncryptedResponse.ts"
import { IdempotencyKeys } from "../../src/domain/idempotency/IdempotencyKeys.ts"
import { idempotencyRepoLayer } from "../../src/domain/idempotency/IdempotencyRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { RefundedStock } from "../../src/domain/inventory/RefundedStock.ts"
import { RefundedStockRepo } from "../../src/domain/inventory/RefundedStockRepo.ts"
import { WarehouseRepo } from "../../src/domain/inventory/WarehouseRepo.ts"
import { OrderRepo, orderRepoLayer } from "../../src/domain/orders/OrderRepo.ts"
import { RefundRepo, refundRepoLayer } from "../../src/domain/payments/RefundRepo.ts"
import { RefundReversalRepo, refundReversalRepoLayer } from "../../src/domain/payments/RefundReversalRepo.ts"
import { PriceCandidateRepo, priceCandidateRepoLayer } from "../../src/domain/pricing/PriceCandidateRepo.ts"
import { PromotionRepo, promotionRepoLayer } from "../../src/domain/promotions/PromotionRepo.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, givenAway, here, openElsewhere } from "./Anonymous.ts"

const Repos = Layer.mergeAll(
  cartRepoLayer,
  cartLineRepoLayer,
  claimRepoLayer,
  createOrderRepoLayer,
  undoCreateOrderRepoLayer,
  customerRepoLayer,
  fulfillmentRepoLayer,
  idempotencyRepoLayer,
  orderRepoLayer,
  refundRepoLayer,
  refundReversalRepoLayer.pipe(Layer.provide(RefundedStock.layer), Layer.provide(RefundedStockRepo.layer)),
  priceCandidateRepoLayer,
  promotionRepoLayer,
  WarehouseRepo.layer
).pipe(Layer.provideMerge(TestDatabase))

/** One row of a table as text. */
const rowOf = (table: string, id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ row: string }>`select t::text as row from ${sql(table)} t where id = ${id}::uuid`,
      ([found]) => found?.row
    ))

/** A product of our organization: in a category, priced, with a discount on it. */
const aProduct = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [entity, category] = [newId(), newId()]
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    values (${entity}::uuid, 'org_default', 'product', ${entity}, 'active', true)`
  yield* sql`insert into categories (id, organization_id, slug) values (${category}::uuid, 'org_default', ${category})`
  yield* sql`insert into entity_categories (organization_id, entity_id, category_id)
    values ('org_default', ${entity}::uuid, ${category}::uuid)`
  yield* sql`insert into prices (id, organization_id, entity_id, currency, amount)
    values (${newId()}::uuid, 'org_default', ${entity}::uuid, 'USD', 1000)`
  yield* sql`insert into price_modifiers (id, organization_id, name, type, value)
    values (${newId()}::uuid, 'org_default', 'Sale', 'percentage_discount', 10)`
  return entity
})

/** A cart of an organization with one unit of something in it. */
const aCart = Effect.fnUntraced(function*(organizationId: string, entityId: string = newId()) {
  const now = yield* DateTime.now
  const state: CartState = {
    cart: {
      id: newId(),
      organizationId,
      customerId: null,
      status: "active",
      currency: "USD",
      email: null,
      metadata: {},
      expiresAt: DateTime.toDateUtc(DateTime.add(now, { days: 1 })),
      createdAt: DateTime.toDateUtc(now),
      updatedAt: DateTime.toDateUtc(now)
    },
    secretHash: "hash",
    version: 0
  }
  const line = {
    id: newId(),
    cartId: state.cart.id,
    entityId,
    variantId: null,
    quantity: 1,
    unitPriceSnapshot: 1000,
    currency: "USD",
    notes: null,
    metadata: {},
    addedAt: state.cart.createdAt
  } as const
  yield* Effect.provideService(CurrentActor, systemActor(organizationId))((yield* CartRepo).insert(state))
  yield* Effect.provideService(CurrentActor, systemActor(organizationId))((yield* CartLineRepo).add(state, line))
  return { ...state, version: 1, line }
})

const visitor = { actor: systemActor("org_default"), customerId: null, secretHash: null }

it.layer(Repos, { excludeTestServices: true })("records of another organization", (it) => {
  it.effect("carts: not shown, and not changed by whoever knows everything about them", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const [carts, lines] = [yield* CartRepo, yield* CartLineRepo]
      const { line, ...state } = yield* aCart("org_default")
      const { id } = state.cart
      assert.isUndefined(yield* elsewhere(carts.find(id)))
      assert.isUndefined(yield* elsewhere(carts.state(id)))
      const taken = { ...state, cart: { ...state.cart, organizationId: "org_elsewhere" } }
      assert.strictEqual(yield* elsewhere(lines.add(taken, { ...line, id: newId() })), "stale")
      assert.strictEqual(yield* elsewhere(lines.setQuantity(taken, line.id, 9)), "no-line")
      assert.strictEqual(yield* elsewhere(lines.remove(taken, line.id)), "no-line")
      assert.deepStrictEqual((yield* here(carts.find(id)))?.lines.map(({ quantity }) => quantity), [1])
      // A line of ours in another organization's cart moves neither.
      yield* givenAway("carts", "id", id)
      assert.strictEqual(yield* here(lines.setQuantity(state, line.id, 9)), "stale")
      assert.strictEqual(yield* here(lines.remove(state, line.id)), "stale")
    }))

  it.effect("claims: neither taken, nor given back, nor filled with another store's goods", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const claims = yield* ClaimRepo
      const sql = yield* SqlClient.SqlClient
      const [cart, checkout] = [yield* aCart("org_default", yield* aProduct), yield* buildOrder()]
      const { id } = cart.cart
      const outsider = { ...visitor, actor: systemActor("org_elsewhere") }
      assert.isUndefined(yield* elsewhere(claims.claim(id, checkout.id, outsider, "USD")))
      const claimed = yield* here(claims.claim(id, checkout.id, visitor, "USD"))
      assert.deepStrictEqual([claimed?.claimed, claimed?.ordered, claimed?.lines[0]?.available], [true, true, true])
      yield* elsewhere(claims.release(id, checkout.id))
      assert.strictEqual((yield* here((yield* CartRepo).find(id)))?.cart.status, "checking_out")
      // The same goods and the same order's id mean nothing to a cart of another organization.
      yield* sql`update carts set organization_id = 'org_elsewhere' where id = ${id}::uuid`
      const foreign = yield* elsewhere(claims.claim(id, checkout.id, outsider, "USD"))
      assert.deepStrictEqual([foreign?.claimed, foreign?.ordered, foreign?.lines[0]?.available], [true, false, false])
    }))

  it.effect("orders: not shown, not counted, and not another store's customer's", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const orders = yield* OrderRepo
      const customer = yield* (yield* CustomerRepo).profileOf({
        ...systemActor("org_elsewhere"),
        type: "user",
        userId: newId()
      })
      const built = yield* buildOrder({ customerId: customer?.id ?? "" })
      assert.isUndefined(yield* elsewhere(orders.find(built.id)))
      assert.isUndefined(yield* elsewhere(orders.find(built.orderNumber)))
      assert.strictEqual((yield* elsewhere(orders.list({}, { page: 1, limit: 9 }))).total, 0)
      assert.strictEqual(yield* elsewhere(orders.countOf(customer?.id ?? "")), 0)
      assert.strictEqual(yield* here(orders.countOf(customer?.id ?? "")), 1)
      const mine = yield* here(orders.find(built.id))
      assert.deepStrictEqual([mine?.order.id, mine?.ownerUserId], [built.id, null])
    }))

  it.effect("fulfillments: not shown", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fulfillments = yield* FulfillmentRepo
      const { id } = yield* buildOrder()
      yield* sql`insert into fulfillments (id, organization_id, order_id, type, status)
        values (${newId()}::uuid, 'org_default', ${id}::uuid, 'physical', 'shipped')`
      const page = { page: 1, limit: 20 }
      assert.strictEqual((yield* here(fulfillments.ofOrder(id, page))).items.length, 1)
      assert.deepStrictEqual(yield* elsewhere(fulfillments.ofOrder(id, page)), { ...page, items: [], total: 0 })
    }))

  it.effect("money: not captured, not given back, not reported as given back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [refunds, reversals, places] = [yield* RefundRepo, yield* RefundReversalRepo, yield* CreateOrderRepo]
      const { grandTotal, id: order } = yield* buildOrder({ lines: [{ unitPrice: 5_000 }] })
      const refund = newId()
      yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
        values (${refund}::uuid, 'org_default', ${order}::uuid, 500, 'damaged', 'pending')`
      const before = [yield* rowOf("orders", order), yield* rowOf("refunds", refund)]
      assert.isUndefined(yield* elsewhere(refunds.find(refund)))
      assert.isFalse(yield* elsewhere(refunds.complete(refund, "ref")))
      assert.isFalse(yield* elsewhere(reversals.fail(refund, { message: "no", refused: true })))
      assert.strictEqual(yield* elsewhere(refunds.recordExternal(order, grandTotal, "ref")), 0)
      assert.isUndefined(yield* elsewhere(places.settle(order, "pi_other", 1)))
      assert.deepStrictEqual([yield* rowOf("orders", order), yield* rowOf("refunds", refund)], before)
      assert.strictEqual((yield* here(refunds.find(refund)))?.amount, 500)
    }))

  it.effect("cancelled orders: their cart and their usage are not given back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const undoing = yield* UndoCreateOrder
      const { id: order } = yield* buildOrder({ captured: null, status: "cancelled" })
      const [ours, theirs] = [yield* aCart("org_default"), yield* aCart("org_elsewhere")]
      yield* sql`update carts set status = 'checked_out', checkout_id = ${order}::uuid
        where id = any(${[ours.cart.id, theirs.cart.id]}::uuid[])`
      const statuses = Effect.map(
        sql<{ status: string }>`select status from carts where id = any(${[ours.cart.id, theirs.cart.id]}::uuid[])
          order by organization_id`,
        (rows) => rows.map(({ status }) => status)
      )
      const ofCart = (id: string) => sql`update orders set cart_id = ${id}::uuid where id = ${order}::uuid`
      yield* ofCart(ours.cart.id)
      yield* elsewhere(undoing.undo(order))
      yield* ofCart(theirs.cart.id)
      yield* elsewhere(undoing.undo(order))
      yield* here(undoing.undo(order))
      assert.deepStrictEqual(yield* statuses, ["checked_out", "checked_out"])
      yield* ofCart(ours.cart.id)
      yield* here(undoing.undo(order))
      assert.deepStrictEqual(yield* statuses, ["active", "checked_out"])
    }))

  it.effect("prices: none of another store's prices, modifiers and things, nor a cart's currency", () =>
    Effect.gen(function*() {
      const candidates = yield* PriceCandidateRepo
      const [entityId, cart] = [yield* aProduct, yield* aCart("org_elsewhere")]
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const find = (currency: string | { readonly cartId: string }) =>
        Effect.map(
          candidates.candidates([{ entityId, variantId: null }], currency, now),
          ({ entities, modifiers, prices }) => [prices.length, modifiers.length > 0, entities.size]
        )
      assert.deepStrictEqual(yield* here(find("USD")), [1, true, 1])
      assert.deepStrictEqual(yield* elsewhere(find("USD")), [0, false, 0])
      assert.deepStrictEqual(yield* here(find({ cartId: cart.cart.id })), [0, true, 1])
    }))

  it.effect("promotions: neither by code nor by themselves, nor the categories they ask about", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const promotions = yield* PromotionRepo
      const entity = yield* aProduct
      const code = newId().toUpperCase()
      yield* sql`insert into promotions (id, organization_id, code, name, type, value, is_automatic)
        select gen_random_uuid(), o, c, 'Ten', 'percentage_off_order', 10, c is null
        from (values ('org_default', ${code}), ('org_default', null)) v(o, c)`
      const found = Effect.map(
        promotions.candidates([code], null, null),
        (all) => all.map(({ promotion }) => promotion.code)
      )
      assert.deepStrictEqual((yield* here(found)).toSorted(), [code, null])
      const customer = newId()
      yield* sql`insert into promotion_buyer_usages (organization_id, promotion_id, buyer, used_count)
        select o, id, ${`customer:${customer}`}, c from promotions, (values ('org_elsewhere', 3), ('org_default', 1)) used(o, c)
        where code = ${code}`
      const usages = (yield* here(promotions.candidates([code], customer, null))).map(({ usage }) => usage.byCustomer)
      assert.deepStrictEqual(usages.toSorted(), [0, 1])
      assert.deepStrictEqual(yield* elsewhere(found), [])
      assert.strictEqual((yield* here(promotions.categorySlugs([entity]))).size, 1)
      assert.strictEqual((yield* elsewhere(promotions.categorySlugs([entity]))).size, 0)
    }))

  it.effect("customers: neither their profile nor their groups", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const customers = yield* CustomerRepo
      const id = newId()
      yield* sql`insert into customers (id, organization_id, user_id, group_ids)
        values (${id}::uuid, 'org_default', ${id}, array['vip'])`
      assert.deepStrictEqual(yield* here(customers.groupsOf(id)), ["vip"])
      assert.deepStrictEqual(yield* elsewhere(customers.groupsOf(id)), [])
      assert.isUndefined(yield* elsewhere(customers.find(id)))
    }))

  it.effect("warehouses: one elsewhere is none here", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const warehouses = yield* WarehouseRepo
      yield* here(warehouses.ensureDefault)
      yield* elsewhere(warehouses.ensureDefault)
      assert.strictEqual((yield* elsewhere(warehouses.list({ page: 1, limit: 9 }))).total, 1)
    }))

  it.effect("idempotency keys: the same key of the same caller is another one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* IdempotencyKeys
      const key = newId()
      yield* here(keys.claim("caller", key, "hash", true))
      const mine = Effect.map(
        sql<{ row: string }>`select t::text as row from idempotency_keys t
          where organization_id = 'org_default' and key_digest = ${keyDigest("caller", key)}`,
        ([found]) => Option.fromUndefinedOr(found)
      )
      const before = yield* mine
      const claim = yield* elsewhere(keys.claim("caller", key, "hash", true))
      assert.strictEqual(claim._tag, "Claimed")
      yield* elsewhere(keys.renew("caller", key))
      yield* elsewhere(keys.finish("caller", key, claim._tag === "Claimed" ? claim.executionId : "", 201, "done"))
      assert.strictEqual((yield* elsewhere(keys.claim("caller", key, "hash", true)))._tag, "Done")
      // Released in the name of our work, which only our organization may.
      const running = yield* here(keys.claim("caller", key, "hash", true))
      yield* elsewhere(keys.release("caller", key, running._tag === "Running" ? running.executionId : ""))
      assert.deepStrictEqual(yield* mine, before)
    }))

  it.effect("idempotency keys: what was done elsewhere under the same work is not done here", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* IdempotencyKeys
      const key = newId()
      const first = yield* here(keys.claim("caller", key, "hash", true))
      const executionId = first._tag === "Claimed" ? first.executionId : ""
      yield* sql`insert into idempotency_records (organization_id, execution_id) values ('org_elsewhere', ${executionId}::uuid)`
      yield* sql`update idempotency_keys set locked_until = now() - interval '1 second' where execution_id = ${executionId}::uuid`
      const doubt = yield* here(keys.claim("caller", key, "hash", false))
      assert.deepStrictEqual(doubt, { _tag: "InDoubt", carriedOut: false })
      assert.deepStrictEqual(yield* here(keys.claim("caller", key, "hash", true)), { _tag: "Claimed", executionId })
    }))
})
