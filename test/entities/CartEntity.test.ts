import { assert, it } from "@effect/vitest"
import { Clock, DateTime, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { systemActor } from "../../src/domain/access/Actor.ts"
import type { CartLine, CartState } from "../../src/domain/carts/Cart.ts"
import { CartLineRepo } from "../../src/domain/carts/CartLineRepo.ts"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { CartEntity, cartEntityLayer } from "../../src/entities/CartEntity.ts"

const cartId = newId()
const now = DateTime.toDateUtc(DateTime.makeUnsafe(0))

const state: CartState = {
  cart: {
    id: cartId,
    organizationId: "org_default",
    customerId: null,
    status: "active",
    currency: "USD",
    email: null,
    metadata: {},
    expiresAt: new Date(3_600_000),
    createdAt: now,
    updatedAt: now
  },
  secretHash: "hash",
  version: 0
}

const line: CartLine = {
  id: newId(),
  cartId,
  entityId: newId(),
  variantId: null,
  quantity: 1,
  unitPriceSnapshot: 1_000,
  currency: "USD",
  notes: null,
  metadata: {},
  addedAt: now
}

const unused = Effect.die(new Error("Not a part of this test."))

/** A cart whose table breaks down at the first write, which waits until it is told to. */
const breakingOnce = Effect.gen(function*() {
  const begun = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  let writes = 0
  const carts = CartRepo.of({
    find: () => unused,
    findWithLine: () => unused,
    state: () => Effect.succeed(state),
    insert: () => unused,
    abandonExpired: unused,
    purgeEnded: () => unused
  })
  const broken = Deferred.succeed(begun, undefined).pipe(
    Effect.andThen(Deferred.await(go)),
    Effect.andThen(Effect.die(new Error("The disk is gone.")))
  )
  const lines = CartLineRepo.of({
    add: () => unused,
    setQuantity: (_, __, quantity) =>
      Effect.suspend(() => writes++ === 0 ? broken : Effect.succeed({ ...line, quantity })),
    remove: () => unused
  })
  const make = yield* Entity.makeTestClient(
    CartEntity,
    cartEntityLayer.pipe(
      Layer.provide(Layer.mergeAll(Layer.succeed(CartRepo, carts), Layer.succeed(CartLineRepo, lines)))
    )
  )
  const actor = yield* make(cartId)
  const set = Effect.fnUntraced(function*(quantity: number) {
    const until = (yield* Clock.currentTimeMillis) + 5_000
    const visit = { actor: systemActor("org_default"), customerId: null, secretHash: null, until }
    return yield* actor.setQuantity({ ...visit, lineId: line.id, quantity })
  })
  return { begun, go, set }
}).pipe(Effect.provide(ShardingConfig.layer()))

it.effect("a defect in a cart's actor reaches its caller alone: who waits behind him is served", () =>
  Effect.gen(function*() {
    const { begun, go, set } = yield* breakingOnce
    const first = yield* Effect.forkChild(Effect.exit(set(2)), { startImmediately: true })
    yield* Deferred.await(begun)
    const second = yield* Effect.forkChild(Effect.exit(set(3)), { startImmediately: true })
    yield* Deferred.succeed(go, undefined)
    const [failed, served] = yield* Effect.all([Fiber.join(first), Fiber.join(second)])
    assert.isTrue(Exit.hasDies(failed))
    assert.isTrue(Exit.isSuccess(served) && served.value.quantity === 3, String(served))
  }))
