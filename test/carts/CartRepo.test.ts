import { assert, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CartLine, CartState } from "../../src/domain/carts/Cart.ts"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { chosenLine } from "../../src/domain/carts/Line.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { type CartLineId, CustomerId, EntityId, newId } from "../../src/domain/platform/ids/Id.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
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
  ...chosenLine({ entityId: EntityId.make(entityId), quantity }),
  unitPriceSnapshot: 1000,
  currency: "USD",
  addedAt: state.cart.createdAt
})

const events = (cartId: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`select payload from outbox_events
    where entity_id = ${cartId} and type = 'cart.afterAddItem'`)

const onCart = (cartId: string, set: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update carts set ${sql.literal(set)} where id = ${cartId}::uuid`
  )

/** Two writes of a line by this version of its cart. */
const changes = (carts: CartRepo["Service"], state: CartState, lineId: CartLineId) =>
  Effect.all([carts.changeLine(state, lineId, { quantity: 7 }), carts.removeLine(state, lineId)])

const layer = CartRepo.layer.pipe(
  Layer.provide(StoreSettings.layerOf({ cartMaxLines: 3 })),
  Layer.provideMerge(TestDatabase)
)

it.layer(layer, { excludeTestServices: true })("the repository of carts", (it) => {
  const asSystem = <A, E, R>(body: Effect.Effect<A, E, R>) =>
    Effect.provideService(body, CurrentActor, systemActor("org_default"))

  it.effect("claims nothing once a line was added to one of the two carts since they were read", () =>
    Effect.gen(function*() {
      const [carts, claimed, other] = [yield* CartRepo, yield* aState, yield* aState]
      const both = Effect.all([carts.find(claimed.cart.id), carts.find(other.cart.id)])
      const [cart, merged] = yield* both
      if (cart === undefined || merged === undefined) return assert.fail("The carts were not made.")
      yield* carts.addLine(other, aLine(other))
      const customer = CustomerId.make(newId())
      assert.strictEqual(yield* carts.claim(cart, merged, customer), "stale")
      const [unclaimed, full] = yield* both
      assert.deepStrictEqual([unclaimed?.cart.customerId, full?.cart.status], [null, "active"])
      assert.strictEqual(yield* carts.claim(cart, full, customer), "claimed")
      const [owned, empty] = yield* both
      assert.deepStrictEqual([owned?.lines.length, owned?.cart.customerId, empty?.cart.status], [1, customer, "merged"])
    }).pipe(asSystem))

  it.effect("writes a line, the cart's new version and the event together, and nothing for an older version", () =>
    Effect.gen(function*() {
      const [carts, state] = [yield* CartRepo, yield* aState]
      const line = aLine(state)
      const written = yield* carts.addLine(state, line)
      assert.strictEqual(yield* carts.addLine(state, aLine(state)), "stale")
      assert.deepStrictEqual(yield* changes(carts, state, line.id), ["stale", "stale"])
      const stored = yield* carts.find(state.cart.id)
      assert.deepStrictEqual<unknown>([stored?.version, stored?.lines], [1, [written]])
      assert.strictEqual((yield* events(state.cart.id)).length, 1)
    }).pipe(asSystem))

  it.effect("adds to a cart at once while another one of the same moment is locked, and to that one when it is free", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const carts = yield* CartRepo
      const [busy, free] = [yield* aState, yield* aState]
      const [locked, unlock] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* Effect.forkChild(sql.withTransaction(
        sql`select 1 from carts where id = ${busy.cart.id}::uuid for update`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(unlock))
        )
      ))
      yield* Deferred.await(locked)
      const waits = yield* Effect.forkChild(carts.addLine(busy, aLine(busy)), { startImmediately: true })
      assert.isObject(yield* carts.addLine(free, aLine(free)))
      assert.strictEqual(yield* carts.addLineUnlessBusy(busy, aLine(busy)), "stale")
      yield* Deferred.succeed(unlock, undefined)
      yield* Fiber.join(holder)
      assert.isObject(yield* Fiber.join(waits))
    }).pipe(asSystem))

  it.effect("lets exactly one of eight writers win who saw the same version", () =>
    Effect.gen(function*() {
      const [carts, state] = [yield* CartRepo, yield* aState]
      const entityId = newId()
      const adds = Array.from({ length: 8 }, () => carts.addLine(state, aLine(state, entityId)))
      const outcomes = yield* Effect.all(adds, { concurrency: "unbounded" })
      assert.strictEqual(outcomes.filter((outcome) => outcome !== "stale").length, 1)
      assert.strictEqual((yield* carts.find(state.cart.id))?.lines[0]?.quantity, 1)
    }).pipe(asSystem))

  it.effect("adds to the line of the same sellable and takes the newer price", () =>
    Effect.gen(function*() {
      const [carts, state] = [yield* CartRepo, yield* aState]
      const line = aLine(state, newId(), 2)
      yield* carts.addLine(state, line)
      yield* carts.addLine({ ...state, version: 1 }, { ...line, id: newId(), quantity: 3, unitPriceSnapshot: 900 })
      const stored = (yield* carts.find(state.cart.id))?.lines
      assert.deepStrictEqual(stored?.map((one) => [one.quantity, one.unitPriceSnapshot]), [[5, 900]])
    }).pipe(asSystem))

  it.effect("adds no fourth line to a cart of three, and more of the third", () =>
    Effect.gen(function*() {
      const [carts, state] = [yield* CartRepo, yield* aState]
      const lines = [aLine(state), aLine(state), aLine(state)]
      for (const [version, line] of lines.entries()) yield* carts.addLine({ ...state, version }, line)
      const full = { ...state, version: 3 }
      assert.strictEqual(yield* carts.addLine(full, aLine(state)), "full")
      assert.strictEqual(yield* carts.addLineUnlessBusy(full, aLine(state)), "full")
      const [, , third] = lines
      assert.isDefined(third)
      assert.isObject(yield* carts.addLine(full, { ...third, id: newId() }))
      const stored = yield* carts.find(state.cart.id)
      assert.deepStrictEqual([stored?.version, stored?.lines.map(({ quantity }) => quantity)], [4, [1, 1, 2]])
      assert.strictEqual((yield* events(state.cart.id)).length, 4)
    }).pipe(asSystem))

  it.effect("does not move the version for a line the cart does not have", () =>
    Effect.gen(function*() {
      const [carts, state] = [yield* CartRepo, yield* aState]
      assert.deepStrictEqual(yield* changes(carts, state, newId()), ["no-line", "no-line"])
      assert.strictEqual((yield* carts.find(state.cart.id))?.version, 0)
    }).pipe(asSystem))

  it.effect("refuses writes to a cart that a checkout has claimed or whose time has run out", () =>
    Effect.gen(function*() {
      const carts = yield* CartRepo
      for (const set of ["status = 'checking_out'", "expires_at = now() - interval '1 second'"]) {
        const state = yield* aState
        const line = aLine(state)
        yield* carts.addLine(state, line)
        yield* onCart(state.cart.id, set)
        const now = { ...state, version: 1 }
        assert.strictEqual(yield* carts.addLine(now, aLine(state)), "stale", set)
        assert.deepStrictEqual(yield* changes(carts, now, line.id), ["stale", "stale"], set)
        yield* onCart(state.cart.id, "expires_at = now() + interval '1 hour'")
      }
    }).pipe(asSystem))

  it.effect("does not show another tenant's cart", () =>
    Effect.gen(function*() {
      const [carts, state] = [yield* CartRepo, yield* aState]
      const seen = Effect.provideService(carts.find(state.cart.id), CurrentActor, systemActor("org_other"))
      assert.isUndefined(yield* seen)
    }).pipe(asSystem))

  it.effect("abandons carts whose time has run out and leaves the others", () =>
    Effect.gen(function*() {
      const carts = yield* CartRepo
      const [old, young] = [yield* aState, yield* aState]
      yield* onCart(old.cart.id, "expires_at = now() - interval '1 second'")
      assert.strictEqual(yield* carts.abandonExpired, 1)
      assert.strictEqual((yield* carts.find(old.cart.id))?.cart.status, "abandoned")
      assert.strictEqual((yield* carts.find(young.cart.id))?.cart.status, "active")
    }).pipe(asSystem))

  it.effect("a cart with lines that is abandoned is an event of its organization, and an empty one is none", () =>
    Effect.gen(function*() {
      const carts = yield* CartRepo
      const [full, empty] = [yield* aState, yield* aState]
      yield* carts.addLine(full, aLine(full))
      yield* Effect.forEach([full, empty], ({ cart }) => onCart(cart.id, "expires_at = now() - interval '1 second'"))
      assert.strictEqual(yield* carts.abandonExpired, 2)
      const sql = yield* SqlClient.SqlClient
      const logged = yield* sql`select organization_id, payload->>'status' as status, payload->>'secretHash' as secret
        from outbox_events where type = 'carts.abandoned' and entity_id in ${sql.in([full.cart.id, empty.cart.id])}`
      assert.deepStrictEqual(logged, [{ organization_id: "org_default", status: "abandoned", secret: null }])
    }).pipe(asSystem))

  it.effect("deletes carts that ended long ago, and neither fresh ones nor those that may still become an order", () =>
    Effect.gen(function*() {
      const carts = yield* CartRepo
      const ended = Effect.fnUntraced(function*([status, days]: readonly [string, number]) {
        const { cart: { id } } = yield* aState
        yield* onCart(id, `status = '${status}', expires_at = now() - interval '${days} days'`)
        return id
      })
      const old = yield* Effect.forEach([["abandoned", 31], ["checked_out", 31]] as const, ended)
      const kept = yield* Effect.forEach([["abandoned", 29], ["checking_out", 31], ["active", 31]] as const, ended)
      assert.strictEqual(yield* carts.purgeEnded(30), 2)
      assert.deepStrictEqual(yield* Effect.forEach(old, carts.find), [undefined, undefined])
      assert.deepStrictEqual((yield* Effect.forEach(kept, carts.find)).map((found) => found?.cart.id), kept)
    }).pipe(asSystem))
})
