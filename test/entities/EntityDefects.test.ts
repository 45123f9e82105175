import { assert, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Layer, Option } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import type { CartLine, CartState } from "../../src/domain/carts/Cart.ts"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { chosenLine } from "../../src/domain/carts/Line.ts"
import { OrderStatusRepo } from "../../src/domain/orders/OrderStatusRepo.ts"
import { systemActor } from "../../src/domain/platform/access/Actor.ts"
import { Conflict } from "../../src/domain/platform/errors/ApiErrors.ts"
import { type CartId, type CartLineId, newId } from "../../src/domain/platform/ids/Id.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { CartEntity, cartEntityLayer } from "../../src/entities/CartEntity.ts"
import { OrderEntity, orderEntityLayer } from "../../src/entities/OrderEntity.ts"

const actor = systemActor("org_default")
const unused = Effect.die(new Error("Not a part of this test."))

/** The first write waits until a second caller is in the queue, and then dies. */
const breakingOnce = () => {
  const [begun, go] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
  let writes = 0
  return {
    write: <A, E>(later: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() =>
        writes++ > 0 ? later : Deferred.succeed(begun, undefined).pipe(
          Effect.andThen(Deferred.await(go)),
          Effect.andThen(Effect.die(new Error("The disk is gone.")))
        )
      ),
    /** How the calls of the two end. */
    exits: Effect.fnUntraced(function*<A, E>(call: (until: number) => Effect.Effect<A, E>) {
      const until = (yield* Clock.currentTimeMillis) + 5_000
      const first = yield* Effect.forkChild(Effect.exit(call(until)), { startImmediately: true })
      yield* Deferred.await(begun)
      const second = yield* Effect.forkChild(Effect.exit(call(until)), { startImmediately: true })
      yield* Deferred.succeed(go, undefined)
      return yield* Effect.all([Fiber.join(first), Fiber.join(second)])
    })
  }
}

it.effect("a defect in a cart's entity reaches only its caller: the next caller is served", () =>
  Effect.gen(function*() {
    const { exits, write } = breakingOnce()
    const [id, lineId, now] = [newId<CartId>(), newId<CartLineId>(), new Date(0)]
    const state: CartState = {
      cart: {
        id,
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
      id: lineId,
      cartId: id,
      ...chosenLine({ entityId: newId(), quantity: 3 }),
      unitPriceSnapshot: 1_000,
      currency: "USD",
      addedAt: now
    }
    const carts = CartRepo.of({
      find: () => unused,
      findWithLine: () => unused,
      activeOf: () => Effect.never,
      claim: () => Effect.never,
      hold: () => unused,
      free: () => unused,
      ofCustomer: () => unused,
      state: () => Effect.succeed(state),
      offer: () => unused,
      change: () => unused,
      insert: () => unused,
      addLine: () => unused,
      addLineUnlessBusy: () => unused,
      changeLine: () => write(Effect.succeed(line)),
      removeLine: () => unused,
      abandonExpired: unused,
      purgeEnded: () => unused
    })
    const services = Layer.merge(Layer.succeed(CartRepo, carts), StoreSettings.layerOf({}))
    const cart = yield* (yield* Entity.makeTestClient(CartEntity, Layer.provide(cartEntityLayer, services)))(id)
    const visit = { actor, customerId: null, secretHash: null, lineId, quantity: 3 }
    const [failed, served] = yield* exits((until) => cart.setQuantity({ ...visit, until }))
    assert.isTrue(Exit.hasDies(failed))
    assert.isTrue(Exit.isSuccess(served) && served.value.quantity === 3, String(served))
  }).pipe(Effect.provide(ShardingConfig.layer())))

it.effect("a defect in an order's entity reaches only its caller: the next caller gets the right error", () =>
  Effect.gen(function*() {
    const { exits, write } = breakingOnce()
    const conflict = Conflict.of("Another request was faster.")
    const statuses = OrderStatusRepo.of({ transition: () => write(Effect.fail(conflict)) })
    const layer = Layer.provide(orderEntityLayer, Layer.succeed(OrderStatusRepo, statuses))
    const order = yield* (yield* Entity.makeTestClient(OrderEntity, layer))(newId())
    const change = { actor, from: "pending", to: "confirmed", reason: null } as const
    const [failed, refused] = yield* exits((until) => order.changeStatus({ ...change, until }))
    assert.isTrue(Exit.hasDies(failed))
    assert.deepStrictEqual(Exit.findErrorOption(refused), Option.some(conflict))
  }).pipe(Effect.provide(ShardingConfig.layer())))
