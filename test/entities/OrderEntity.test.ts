import { assert, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { systemActor } from "../../src/domain/access/Actor.ts"
import { Conflict } from "../../src/domain/errors/ApiErrors.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { OrderStatusRepo } from "../../src/domain/orders/OrderStatusRepo.ts"
import { OrderEntity, orderEntityLayer } from "../../src/entities/OrderEntity.ts"

/** An order whose first change of status breaks down when it is told to; every later one is refused with a reason. */
const breakingOnce = Effect.gen(function*() {
  const begun = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  let changes = 0
  const broken = Deferred.succeed(begun, undefined).pipe(
    Effect.andThen(Deferred.await(go)),
    Effect.andThen(Effect.die(new Error("The disk is gone.")))
  )
  const statuses = OrderStatusRepo.of({
    transition: () => Effect.suspend(() => changes++ === 0 ? broken : Effect.fail(Conflict.of("Somebody was faster.")))
  })
  const make = yield* Entity.makeTestClient(
    OrderEntity,
    orderEntityLayer.pipe(Layer.provide(Layer.succeed(OrderStatusRepo, statuses)))
  )
  const actor = yield* make(newId())
  const change = Effect.gen(function*() {
    const until = (yield* Clock.currentTimeMillis) + 5_000
    return yield* actor.changeStatus({
      actor: systemActor("org_default"),
      from: "pending",
      to: "confirmed",
      reason: null,
      until
    })
  })
  return { begun, go, change }
}).pipe(Effect.provide(ShardingConfig.layer()))

it.effect("a defect in an order's actor reaches its caller alone: who waits behind him gets his own answer", () =>
  Effect.gen(function*() {
    const { begun, change, go } = yield* breakingOnce
    const first = yield* Effect.forkChild(Effect.exit(change), { startImmediately: true })
    yield* Deferred.await(begun)
    const second = yield* Effect.forkChild(Effect.flip(change), { startImmediately: true })
    yield* Deferred.succeed(go, undefined)
    assert.isTrue(Exit.hasDies(yield* Fiber.join(first)))
    assert.strictEqual((yield* Fiber.join(second))._tag, "Conflict")
  }))
