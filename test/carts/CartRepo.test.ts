import { assert, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import type { CartLine, CartState } from "../../src/domain/carts/Cart.ts"
import { CartLineRepo, cartLineRepoLayer } from "../../src/domain/carts/CartLineRepo.ts"
import { CartRepo, cartRepoLayer } from "../../src/domain/carts/CartRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { TestDatabase } from "../support/Postgres.ts"

const aState = Effect.gen(function*() {
  const now = DateTime.toDateUtc(yield* DateTime.now)
  const state: CartState = {
    cart: {
      id: newId(),
      organizationId: "org_default",
      customerId: null,
      status: "active",
      currency: "USD",
      email: null,
      metadata: {},
      expiresAt: new Date(now.getTime() + 3_600_000),
      createdAt: now,
      updatedAt: now
    },
    secretHash: "hash",
    version: 0
  }
  yield* (yield* CartRepo).insert(state)
  return state
})

const aLine = (state: CartState, entityId = newId(), quantity = 1): CartLine => ({
  id: newId(),
  cartId: state.cart.id,
  entityId,
  variantId: null,
  quantity,
  unitPriceSnapshot: 1000,
  currency: "USD",
  notes: null,
  metadata: {},
  addedAt: state.cart.createdAt
})

const events = (cartId: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`select payload from outbox_events
    where entity_id = ${cartId} and type = 'cart.afterAddItem'`)

const layer = Layer.merge(cartRepoLayer, cartLineRepoLayer).pipe(Layer.provideMerge(TestDatabase))

it.layer(layer, { excludeTestServices: true })("the repository of carts", (it) => {
  const asSystem = <A, E, R>(body: Effect.Effect<A, E, R>) =>
    Effect.provideService(body, CurrentActor, systemActor("org_default"))

  it.effect("writes a line, the cart's new version and the event together", () =>
    Effect.gen(function*() {
      const repo = yield* CartRepo
      const lines = yield* CartLineRepo
      const state = yield* aState
      const written = yield* lines.add(state, aLine(state))
      const stored = yield* repo.find(state.cart.id)
      assert.strictEqual(stored?.version, 1)
      assert.deepStrictEqual<unknown>(stored?.lines, [written])
      assert.strictEqual((yield* events(state.cart.id)).length, 1)
    }).pipe(asSystem))

  it.effect("writes nothing, not even the event, for a version that has moved on", () =>
    Effect.gen(function*() {
      const repo = yield* CartRepo
      const lines = yield* CartLineRepo
      const state = yield* aState
      yield* lines.add(state, aLine(state))
      assert.strictEqual(yield* lines.add(state, aLine(state)), "stale")
      assert.strictEqual((yield* repo.find(state.cart.id))?.lines.length, 1)
      assert.strictEqual((yield* events(state.cart.id)).length, 1)
    }).pipe(asSystem))

  it.effect("adds to a cart at once while another one of the same moment is locked, and to that one when it is free", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const lines = yield* CartLineRepo
      const [busy, free] = [yield* aState, yield* aState]
      const [locked, unlock] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* Effect.forkChild(sql.withTransaction(
        sql`select 1 from carts where id = ${busy.cart.id}::uuid for update`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(unlock))
        )
      ))
      yield* Deferred.await(locked)
      const waits = yield* Effect.forkChild(lines.add(busy, aLine(busy)), { startImmediately: true })
      assert.isObject(yield* lines.add(free, aLine(free)))
      yield* Deferred.succeed(unlock, undefined)
      yield* Fiber.join(holder)
      assert.isObject(yield* Fiber.join(waits))
    }).pipe(asSystem))

  it.effect("lets exactly one of eight writers win who saw the same version", () =>
    Effect.gen(function*() {
      const repo = yield* CartRepo
      const lines = yield* CartLineRepo
      const state = yield* aState
      const entityId = newId()
      const outcomes = yield* Effect.all(
        Array.from({ length: 8 }, () => lines.add(state, aLine(state, entityId))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.filter((outcome) => outcome !== "stale").length, 1)
      assert.strictEqual((yield* repo.find(state.cart.id))?.lines[0]?.quantity, 1)
    }).pipe(asSystem))

  it.effect("adds to the line of the same sellable and takes the newer price", () =>
    Effect.gen(function*() {
      const repo = yield* CartRepo
      const lines = yield* CartLineRepo
      const state = yield* aState
      const entityId = newId()
      yield* lines.add(state, aLine(state, entityId, 2))
      yield* lines.add({ ...state, version: 1 }, { ...aLine(state, entityId, 3), unitPriceSnapshot: 900 })
      const stored = (yield* repo.find(state.cart.id))?.lines
      assert.deepStrictEqual(stored?.map((line) => [line.quantity, line.unitPriceSnapshot]), [[5, 900]])
    }).pipe(asSystem))

  it.effect("does not move the version for a line the cart does not have", () =>
    Effect.gen(function*() {
      const repo = yield* CartRepo
      const lines = yield* CartLineRepo
      const state = yield* aState
      assert.strictEqual(yield* lines.setQuantity(state, newId(), 5), "no-line")
      assert.strictEqual(yield* lines.remove(state, newId()), "no-line")
      assert.strictEqual((yield* repo.find(state.cart.id))?.version, 0)
    }).pipe(asSystem))

  it.effect("refuses to change or remove a line of a version that has moved on", () =>
    Effect.gen(function*() {
      const lines = yield* CartLineRepo
      const state = yield* aState
      const line = aLine(state)
      yield* lines.add(state, line)
      assert.strictEqual(yield* lines.setQuantity(state, line.id, 7), "stale")
      assert.strictEqual(yield* lines.remove(state, line.id), "stale")
    }).pipe(asSystem))

  it.effect("refuses writes to a cart that a checkout has claimed", () =>
    Effect.gen(function*() {
      const lines = yield* CartLineRepo
      const sql = yield* SqlClient.SqlClient
      const state = yield* aState
      const line = aLine(state)
      yield* lines.add(state, line)
      yield* sql`update carts set status = 'checking_out' where id = ${state.cart.id}::uuid`
      const now = { ...state, version: 1 }
      assert.strictEqual(yield* lines.add(now, aLine(state)), "stale")
      assert.strictEqual(yield* lines.setQuantity(now, line.id, 7), "stale")
      assert.strictEqual(yield* lines.remove(now, line.id), "stale")
    }).pipe(asSystem))

  it.effect("refuses writes to a cart whose time has run out, before anybody wrote that down", () =>
    Effect.gen(function*() {
      const lines = yield* CartLineRepo
      const sql = yield* SqlClient.SqlClient
      const state = yield* aState
      yield* sql`update carts set expires_at = now() - interval '1 second' where id = ${state.cart.id}::uuid`
      assert.strictEqual(yield* lines.add(state, aLine(state)), "stale")
      yield* sql`delete from carts where id = ${state.cart.id}::uuid`
    }).pipe(asSystem))

  it.effect("does not show another organization's cart", () =>
    Effect.gen(function*() {
      const repo = yield* CartRepo
      const state = yield* aState
      const seen = yield* Effect.provideService(repo.find(state.cart.id), CurrentActor, systemActor("org_other"))
      assert.isUndefined(seen)
    }).pipe(asSystem))

  it.effect("abandons carts whose time has run out and leaves the others", () =>
    Effect.gen(function*() {
      const repo = yield* CartRepo
      const sql = yield* SqlClient.SqlClient
      const [old, young] = [yield* aState, yield* aState]
      yield* sql`update carts set expires_at = now() - interval '1 second' where id = ${old.cart.id}::uuid`
      assert.strictEqual(yield* repo.abandonExpired, 1)
      assert.strictEqual((yield* repo.find(old.cart.id))?.cart.status, "abandoned")
      assert.strictEqual((yield* repo.find(young.cart.id))?.cart.status, "active")
    }).pipe(asSystem))

  it.effect("deletes carts that ended long ago, and neither fresh ones nor those that may still become an order", () =>
    Effect.gen(function*() {
      const repo = yield* CartRepo
      const sql = yield* SqlClient.SqlClient
      const ended = Effect.fnUntraced(function*(status: string, days: number) {
        const { cart: { id } } = yield* aState
        yield* sql`update carts set status = ${status}, expires_at = now() - make_interval(days => ${days})
          where id = ${id}::uuid`
        return id
      })
      const old = [yield* ended("abandoned", 31), yield* ended("checked_out", 31)]
      const kept = [yield* ended("abandoned", 29), yield* ended("checking_out", 31), yield* ended("active", 31)]
      assert.strictEqual(yield* repo.purgeEnded(30), 2)
      assert.deepStrictEqual(yield* Effect.forEach(old, repo.find), [undefined, undefined])
      assert.deepStrictEqual((yield* Effect.forEach(kept, repo.find)).map((found) => found?.cart.id), kept)
    }).pipe(asSystem))
})
