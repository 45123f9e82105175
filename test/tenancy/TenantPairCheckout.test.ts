import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { systemActor } from "../../src/domain/access/Actor.ts"
import { BasketRepo, basketRepoLayer } from "../../src/domain/checkout/BasketRepo.ts"
import { ClaimRepo, claimRepoLayer } from "../../src/domain/checkout/ClaimRepo.ts"
import { CreateOrderRepo, createOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { createOrderStatement } from "../../src/domain/checkout/CreateOrderStatementRepo.ts"
import { OrderEditRepo, orderEditRepoLayer } from "../../src/domain/checkout/OrderEditRepo.ts"
import { orderUpdated } from "../../src/domain/checkout/OrderEditStatementRepo.ts"
import { UndoCreateOrder } from "../../src/domain/checkout/UndoCreateOrder.ts"
import { undoCreateOrderRepoLayer } from "../../src/domain/checkout/UndoCreateOrderRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { EditedStock } from "../../src/domain/inventory/EditedStock.ts"
import { aPendingOrder } from "../checkout/NewOrder.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, here, openElsewhere, outsider } from "./Anonymous.ts"

const Repos = Layer.mergeAll(
  basketRepoLayer,
  claimRepoLayer,
  Layer.provide(orderEditRepoLayer, Layer.mock(EditedStock, {})),
  createOrderRepoLayer,
  undoCreateOrderRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

/** A promotion of an organization, as an order uses it. */
const aPromotion = Effect.fnUntraced(function*(organization: string) {
  const sql = yield* SqlClient.SqlClient
  const promotionId = newId()
  yield* sql`insert into promotions (id, organization_id, name, type, value)
    values (${promotionId}::uuid, ${organization}, 'P', 'free_shipping', 0)`
  const rest = { code: null, type: "free_shipping", discountAmount: 0, freeShipping: true, description: "P" }
  return { promotionId, ...rest, perCustomer: 5 }
})

/** The other organization holds stock under the same name. */
const heldElsewhere = (holder: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`insert into holds (organization_id, holder, expires_at)
      values ('org_elsewhere', ${holder}, now() + interval '1 hour')`)

const stateOf = (organization: string, holder: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ state: string }>`select state from holds where organization_id = ${organization} and holder = ${holder}`,
      ([row]) => row?.state
    ))

it.layer(Repos, { excludeTestServices: true })("the checkout of two organizations under the same names", (it) => {
  it.effect("an order takes what its own organization holds", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const { create, createManual } = yield* CreateOrderRepo
      const [bought, written] = [yield* aPendingOrder(), yield* aPendingOrder()]
      for (const { order } of [bought, written]) yield* heldElsewhere(order.id)
      assert.strictEqual(yield* here(create(bought)), "created")
      assert.strictEqual(yield* here(createManual({ ...written, email: null }, Effect.void)), "created")
      for (const { order } of [bought, written]) {
        assert.strictEqual(yield* stateOf("org_default", order.id), "sold")
        assert.strictEqual(yield* stateOf("org_elsewhere", order.id), "held")
      }
    }))

  it.effect("orders of both in one statement take each what its own holds, and wait for nothing else", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const [ours, made] = [yield* aPendingOrder(), yield* aPendingOrder()]
      const theirs = { ...made, order: { ...made.order, organizationId: "org_elsewhere" } }
      yield* sql`update carts set organization_id = 'org_elsewhere' where id = ${theirs.cartId}::uuid`
      yield* sql`update holds set organization_id = 'org_elsewhere' where holder = ${theirs.order.id}`
      yield* heldElsewhere(ours.order.id)
      yield* sql`insert into holds (organization_id, holder, expires_at)
        values ('org_default', ${theirs.order.id}, now() + interval '1 hour')`
      const connection = yield* sql.reserve
      yield* connection.executeRaw("begin", [])
      yield* connection.executeRaw(
        "select 1 from holds where (organization_id, holder) in (('org_elsewhere', $1), ('org_default', $2)) for update",
        [ours.order.id, theirs.order.id]
      )
      const creations = [ours, theirs].map((newOrder) => ({
        newOrder,
        actor: systemActor(newOrder.order.organizationId)
      }))
      const rows = yield* Effect.timeout(createOrderStatement(sql, creations, ""), "5 seconds")
      yield* connection.executeRaw("rollback", [])
      assert.deepStrictEqual(rows.map(({ created }) => created), [true, true])
      assert.strictEqual(yield* stateOf("org_elsewhere", ours.order.id), "held")
      assert.strictEqual(yield* stateOf("org_default", theirs.order.id), "held")
    }).pipe(Effect.scoped))

  it.effect("an order of another organization under the same id is none that was placed before", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const newOrder = yield* aPendingOrder()
      const { id } = yield* buildOrder({ organizationId: "org_elsewhere" })
      const order = { ...newOrder.order, id }
      assert.strictEqual(yield* here((yield* CreateOrderRepo).create({ ...newOrder, order })), "reservation-expired")
    }))

  it.effect("promotions are counted by their own organization, and so are their customers", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const [ours, theirs, customer] = [yield* aPromotion("org_default"), yield* aPromotion("org_elsewhere"), newId()]
      yield* sql`insert into customers (id, organization_id, user_id)
        values (${customer}::uuid, 'org_default', ${customer})`
      yield* sql`insert into promotion_buyer_usages (organization_id, promotion_id, buyer, used_count)
        values ('org_elsewhere', ${ours.promotionId}::uuid, ${`customer:${customer}`}, 3)`
      const counts = sql`select u.organization_id, u.used_count, p.used_count as of_promotion
        from promotions p left join promotion_buyer_usages u on u.promotion_id = p.id
        where p.id = any(${[ours.promotionId, theirs.promotionId]}::uuid[]) order by 1`
      const newOrder = yield* aPendingOrder([ours, theirs], customer)
      yield* here((yield* CreateOrderRepo).create(newOrder))
      const recorded = Effect.map(counts, (rows) => rows.map((row) => Object.values(row).map(String)))
      assert.deepStrictEqual(yield* recorded, [["org_default", "1", "1"], ["org_elsewhere", "3", "1"], [
        "null",
        "null",
        "0"
      ]])
      yield* sql`update orders set status = 'cancelled' where id = ${newOrder.order.id}::uuid`
      yield* here((yield* UndoCreateOrder).undo(newOrder.order.id))
      assert.deepStrictEqual(yield* recorded, [["org_default", "0", "0"], ["org_elsewhere", "3", "0"], [
        "null",
        "null",
        "0"
      ]])
    }))

  it.effect("a cart is neither read, nor claimed, nor given back, and nobody waits for it", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const [claims, carts] = [yield* ClaimRepo, yield* BasketRepo]
      const { cartId, order } = yield* aPendingOrder()
      const visitor = { actor: systemActor("org_elsewhere"), customerId: null, secretHash: "hash" }
      assert.isUndefined(yield* outsider(carts.ofCart(cartId)))
      assert.isUndefined(yield* outsider(claims.claim(cartId, order.id, visitor, "USD")))
      yield* outsider(claims.release(cartId, order.id))
      assert.isTrue(
        (yield* here(claims.claim(cartId, order.id, { ...visitor, actor: systemActor("org_default") }, "USD")))
          ?.ours
      )
    }))

  it.effect("an order is not edited elsewhere", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* buildOrder({ captured: null, intentId: null, orderNumber: "ORD-2021-000001" })
      const { order } = yield* aPendingOrder()
      const edit = (organization: string) => orderUpdated(sql, systemActor(organization), { ...order, id }, 0, null)
      assert.deepStrictEqual(yield* elsewhere(edit("org_elsewhere")), [])
      assert.isUndefined(yield* elsewhere((yield* OrderEditRepo).find(id)))
      assert.strictEqual((yield* edit("org_default")).length, 1)
    }))
})
