import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { BasketRepo, basketRepoLayer } from "../../src/domain/checkout/BasketRepo.ts"
import type { RunToken } from "../../src/domain/checkout/CheckoutRunRepo.ts"
import {
  CreateOrderRepo,
  createOrderRepoLayer,
  undoCreateOrderRepoLayer
} from "../../src/domain/checkout/CreateOrderRepo.ts"
import { createOrderStatement } from "../../src/domain/checkout/CreateOrderStatements.ts"
import { OrderEditRepo, orderEditRepoLayer, orderUpdated } from "../../src/domain/checkout/OrderEditRepo.ts"
import { OrderStock } from "../../src/domain/inventory/Inventory.ts"
import { UndoCreateOrder } from "../../src/domain/orders/OrderStatus.ts"
import { systemActor } from "../../src/domain/platform/access/Actor.ts"
import { IdempotencyKeys } from "../../src/domain/platform/idempotency/IdempotencyKeys.ts"
import { idempotencyRepoLayer, keyDigest } from "../../src/domain/platform/idempotency/IdempotencyRepo.ts"
import { type CartId, type CustomerId, newId, type PromotionId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { aPendingOrder, aRun } from "../checkout/NewOrder.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { asAnother, asOwner, giveAway, insert, openAnother, whileLocked } from "./AnotherTenant.ts"

const Repos = Layer.mergeAll(
  basketRepoLayer,
  Layer.provide(CartRepo.layer, StoreSettings.layerOf({})),
  basketRepoLayer,
  createOrderRepoLayer,
  idempotencyRepoLayer,
  Layer.provide(orderEditRepoLayer, Layer.mock(OrderStock, {})),
  undoCreateOrderRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

/** A promotion of an organization, as an order uses it. */
const aPromotion = Effect.fnUntraced(function*(organization_id: string) {
  const id = newId<PromotionId>()
  yield* insert("promotions", { organization_id, id, name: "P", type: "free_shipping", value: 0 })
  const rest = { code: null, type: "free_shipping", discountAmount: 0, freeShipping: true, description: "P" }
  return { promotionId: id, ...rest, perCustomer: 5 }
})

/** Stock that an organization holds for a name. */
const hold = (organization_id: string, holder: string) =>
  insert("holds", { organization_id, holder, expires_at: new Date(Date.now() + 3_600_000) })

const statesOf = (holder: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ state: string }>`select state from holds where holder = ${holder} order by organization_id desc`,
      (rows) => rows.map(({ state }) => state)
    ))

it.layer(Repos, { excludeTestServices: true })("repositories of the checkout", (it) => {
  it.effect("repositories of the checkout sell only the stock that the order's own organization holds", () =>
    Effect.gen(function*() {
      yield* openAnother
      const { create, createManual } = yield* CreateOrderRepo
      const [bought, written] = [yield* aPendingOrder(), yield* aPendingOrder()]
      for (const { order } of [bought, written]) yield* hold("org_another", order.id)
      assert.strictEqual(yield* asOwner(create(bought)), "created")
      assert.strictEqual(yield* asOwner(createManual({ ...written, email: null }, Effect.void)), "created")
      for (const { order } of [bought, written]) assert.deepStrictEqual(yield* statesOf(order.id), ["sold", "held"])
    }))

  it.effect("repositories of the checkout create orders of two organizations in one statement from the holds of each, and wait for no other hold", () =>
    Effect.gen(function*() {
      yield* openAnother
      const sql = yield* SqlClient.SqlClient
      const [own, made] = [yield* aPendingOrder(), yield* aPendingOrder()]
      const theirs = { ...made, order: { ...made.order, organizationId: "org_another" } }
      yield* giveAway("carts", "id", theirs.cartId)
      yield* giveAway("checkout_runs", "id", theirs.order.id)
      yield* sql`update holds set organization_id = 'org_another' where holder = ${theirs.order.id}`
      yield* Effect.all([hold("org_another", own.order.id), hold("org_default", theirs.order.id)])
      const connection = yield* sql.reserve
      yield* connection.executeRaw("begin", [])
      yield* connection.executeRaw(
        "select 1 from holds where (organization_id, holder) in (('org_another', $1), ('org_default', $2)) for update",
        [own.order.id, theirs.order.id]
      )
      const creations = [own, theirs].map((newOrder) => ({
        newOrder,
        actor: systemActor(newOrder.order.organizationId)
      }))
      const rows = yield* createOrderStatement(sql, creations, "")
      yield* connection.executeRaw("rollback", [])
      assert.deepStrictEqual(rows.map(({ created }) => created), [true, true])
      assert.deepStrictEqual(yield* statesOf(own.order.id), ["sold", "held"])
      assert.deepStrictEqual(yield* statesOf(theirs.order.id), ["held", "sold"])
    }).pipe(Effect.scoped))

  it.effect("repositories of the checkout do not take another tenant's order under the same id for one that was created before", () =>
    Effect.gen(function*() {
      yield* openAnother
      const newOrder = yield* aPendingOrder()
      const { id } = yield* buildOrder({ organizationId: "org_another" })
      const { owner } = yield* aRun(id)
      const create = CreateOrderRepo.use((repo) =>
        repo.create({ ...newOrder, owner, order: { ...newOrder.order, id } })
      )
      assert.strictEqual(yield* asOwner(create), "reservation-expired")
    }))

  it.effect("repositories of the checkout count the uses of a promotion by organization and customer, and undo only those", () =>
    Effect.gen(function*() {
      yield* openAnother
      const sql = yield* SqlClient.SqlClient
      const [own, theirs, customer] = [
        yield* aPromotion("org_default"),
        yield* aPromotion("org_another"),
        newId<CustomerId>()
      ]
      yield* insert("customers", { id: customer, user_id: customer })
      const used = { promotion_id: own.promotionId, buyer: `customer:${customer}`, used_count: 3 }
      yield* insert("promotion_buyer_usages", { organization_id: "org_another", ...used })
      const counts = Effect.map(
        sql`select p.id = ${own.promotionId}::uuid as own, u.organization_id, u.used_count, p.used_count as of_promotion
          from promotions p left join promotion_buyer_usages u on u.promotion_id = p.id
          where p.id = any(${[own.promotionId, theirs.promotionId]}::uuid[]) order by 1 desc, 2 desc`,
        (rows) => rows.map((row) => Object.values(row).join(" "))
      )
      const newOrder = yield* aPendingOrder([own, theirs], customer)
      yield* asOwner(CreateOrderRepo.use((repo) => repo.create(newOrder)))
      assert.deepStrictEqual(yield* counts, ["true org_default 1 1", "true org_another 3 1", "false   0"])
      yield* sql`update orders set status = 'cancelled' where id = ${newOrder.order.id}::uuid`
      yield* asOwner(UndoCreateOrder.use((service) => service.undo(newOrder.order.id)))
      assert.deepStrictEqual(yield* counts, ["true org_default 0 0", "true org_another 3 0", "false   0"])
    }))

  it.effect("repositories of the checkout neither read, claim nor release another tenant's cart, nor wait for it", () =>
    Effect.gen(function*() {
      yield* openAnother
      const [{ claim, release }, { ofCart }] = [yield* BasketRepo, yield* BasketRepo]
      const { cartId, order, owner } = yield* aPendingOrder()
      const visitor = (organization: string) => ({
        actor: systemActor(organization),
        customerId: null,
        secretHash: "hash"
      })
      const refused = Effect.all([
        ofCart(cartId),
        claim(order.id, visitor("org_another"), { cartId, currency: CurrencyCode.make("USD") }, null),
        release(cartId, { checkoutId: order.id, owner })
      ])
      const answers = yield* whileLocked("org_default", asAnother(refused))
      assert.deepStrictEqual(answers, [undefined, undefined, undefined])
      assert.strictEqual((yield* asOwner(CartRepo.use((repo) => repo.find(cartId))))?.cart.status, "checking_out")
      assert.isTrue(
        (yield* asOwner(claim(order.id, visitor("org_default"), { cartId, currency: CurrencyCode.make("USD") }, null)))
          ?.ours
      )
    }))

  it.effect("repositories of the checkout claim a cart without the goods and orders of another tenant under the same ids", () =>
    Effect.gen(function*() {
      yield* openAnother
      const [cart, entity, checkout] = [newId<CartId>(), newId(), yield* buildOrder({ orderNumber: "ORD-2021-000002" })]
      const product = { type: "product", slug: entity, status: "active", is_visible: true }
      yield* insert("catalog_entities", { id: entity, ...product })
      const open = { status: "active", currency: "USD", secret_hash: "hash", expires_at: new Date("2999-01-01") }
      yield* insert("carts", { id: cart, ...open })
      const line = { quantity: 1, unit_price_snapshot: 1000, currency: "USD" }
      yield* insert("cart_lines", { id: newId(), cart_id: cart, entity_id: entity, ...line })
      const { claim } = yield* BasketRepo
      const aNewRun = { owner: newId<RunToken>(), process: 1, payload: "{}" }
      const claimed = (organization: string) =>
        Effect.map(
          claim(
            checkout.id,
            { actor: systemActor(organization), customerId: null, secretHash: "hash" },
            { cartId: cart, currency: CurrencyCode.make("USD") },
            aNewRun
          ),
          (found) => [found?.claimed, found?.ordered, found?.lines[0]?.available]
        )
      assert.deepStrictEqual(yield* asOwner(claimed("org_default")), [false, true, true])
      yield* giveAway("carts", "id", cart)
      assert.deepStrictEqual(yield* asAnother(claimed("org_another")), [true, false, false])
    }))

  it.effect("repositories of the checkout open the cart of a cancelled order only for the tenant of both", () =>
    Effect.gen(function*() {
      yield* openAnother
      const sql = yield* SqlClient.SqlClient
      const { undo } = yield* UndoCreateOrder
      const { id: order } = yield* buildOrder({ captured: null, status: "cancelled", orderNumber: "ORD-2021-3" })
      const [own, theirs] = [newId(), newId()]
      const left = {
        status: "checked_out",
        currency: "USD",
        secret_hash: "h",
        expires_at: new Date(),
        checkout_id: order
      }
      yield* insert("carts", { id: own, ...left }, { id: theirs, organization_id: "org_another", ...left })
      const statuses = Effect.map(
        sql<{ status: string }>`select status from carts where id = any(${[
          own,
          theirs
        ]}::uuid[]) order by organization_id`,
        (rows) => rows.map(({ status }) => status)
      )
      for (const [cart, as] of [[own, asAnother], [theirs, asAnother], [theirs, asOwner]] as const) {
        yield* sql`update orders set cart_id = ${cart}::uuid where id = ${order}::uuid`
        yield* as(undo(order))
        assert.deepStrictEqual(yield* statuses, ["checked_out", "checked_out"])
      }
      yield* sql`update orders set cart_id = ${own}::uuid where id = ${order}::uuid`
      yield* asOwner(undo(order))
      assert.deepStrictEqual(yield* statuses, ["checked_out", "active"])
    }))

  it.effect("repositories of the checkout edit no order of another tenant", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* buildOrder({ captured: null, intentId: null, orderNumber: "ORD-2021-000001" })
      const { order } = yield* aPendingOrder()
      const edit = (organization: string) => orderUpdated(sql, systemActor(organization), { ...order, id }, 0, null)
      assert.deepStrictEqual(yield* edit("org_another"), [])
      assert.isUndefined(yield* asAnother(OrderEditRepo.use((repo) => repo.find(id))))
      assert.strictEqual((yield* edit("org_default")).length, 1)
    }))

  it.effect("repositories of the checkout keep the same idempotency key of two tenants apart", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { claim, finish, release, renew } = yield* IdempotencyKeys
      const key = newId()
      const claimed = claim("caller", key, "hash", true)
      yield* asOwner(claimed)
      const own = sql`select t::text from idempotency_keys t
        where organization_id = 'org_default' and key_digest = ${keyDigest("caller", key)}`
      const before = yield* own
      assert.strictEqual(before.length, 1)
      const theirs = yield* asAnother(claimed)
      assert.strictEqual(theirs._tag, "Claimed")
      yield* asAnother(renew("caller", key))
      yield* asAnother(finish("caller", key, theirs._tag === "Claimed" ? theirs.executionId : "", 201, "done"))
      assert.strictEqual((yield* asAnother(claimed))._tag, "Done")
      // Not even with the id of the owner's execution.
      const running = yield* asOwner(claimed)
      yield* asAnother(release("caller", key, running._tag === "Running" ? running.executionId : ""))
      assert.deepStrictEqual(yield* own, before)
    }))

  it.effect("repositories of the checkout take no idempotency record of another tenant for the own execution", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { claim } = yield* IdempotencyKeys
      const key = newId()
      const first = yield* asOwner(claim("caller", key, "hash", true))
      const executionId = Option.getOrThrow(Option.liftPredicate(first, (one) => one._tag === "Claimed")).executionId
      yield* insert("idempotency_records", { organization_id: "org_another", execution_id: executionId })
      yield* sql`update idempotency_keys set locked_until = now() - interval '1 second'
        where execution_id = ${executionId}::uuid`
      const doubt = yield* asOwner(claim("caller", key, "hash", false))
      assert.deepStrictEqual(doubt, { _tag: "InDoubt", carriedOut: false })
      const again = yield* asOwner(claim("caller", key, "hash", true))
      assert.deepStrictEqual(again, { _tag: "Claimed", executionId, isRepeat: true })
    }))
})
