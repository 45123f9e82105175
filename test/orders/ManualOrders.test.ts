import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { EntityId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { type ReserveCall, StockClient } from "../../src/entities/StockEntity.ts"
import { ManualOrders } from "../../src/workflows/orders/ManualOrders.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { TestApp, withSharedApp } from "../support/TestApp.ts"

withSharedApp("manual orders", (it) => {
  it.effect("answers 503 and releases the stock when the process stops", () =>
    Effect.gen(function*() {
      const inStore = Effect.provideService(CurrentActor, systemActor((yield* TestApp).organizationId))
      const entityId = EntityId.make(yield* aProduct())
      const stock = yield* StockClient
      const holders: Array<string> = []
      const grantedButUnanswered: ReserveCall = (_, request) => {
        holders.push(request.holder)
        return Effect.andThen(inStore(stock.reserve(request)), Effect.fail({ _tag: "EntityNotAssignedToRunner" }))
      }
      const orders = yield* ManualOrders.make.pipe(
        Effect.provide(StockClient.layerOf(grantedButUnanswered, Effect.succeed(true)))
      )
      const order = orders.create({ currency: CurrencyCode.make("USD"), lineItems: [{ entityId, quantity: 1 }] })
      const failure = yield* Effect.flip(inStore(order))
      assert.strictEqual(failure._tag, "Unavailable")
      const holds = yield* onDatabase((sql) => sql`select state from holds where holder = any(${holders})`)
      assert.deepStrictEqual(holds, [{ state: "released" }])
    }))
})
