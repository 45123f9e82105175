import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { undoCreateOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { handoverLayer, ShipmentRepo } from "../../src/domain/fulfillment/ShipmentRepo.ts"
import { Shipments } from "../../src/domain/fulfillment/Shipments.ts"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { OrderStock } from "../../src/domain/inventory/Inventory.ts"
import { OrderHoldRepo } from "../../src/domain/inventory/OrderHoldRepo.ts"
import { OrderRepo } from "../../src/domain/orders/OrderRepo.ts"
import { Orders } from "../../src/domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../src/domain/orders/OrderStatusRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const shipments = Shipments.layer.pipe(
  Layer.provide(Orders.layer),
  Layer.provide(Layer.mergeAll(OrderRepo.layer, OrderStatusRepo.layer, ShipmentRepo.layer, Hooks.layerNone)),
  Layer.provide(Layer.mergeAll(OrderStock.layer, handoverLayer)),
  Layer.provide(Layer.mergeAll(HoldRepo.layer, OrderHoldRepo.layer, undoCreateOrderRepoLayer)),
  Layer.provideMerge(TestDatabase)
)

/** How many statements it takes to send the first half of each line, the second half, and to take that back. */
const countsFor = Effect.fnUntraced(function*(count: number) {
  const order = yield* buildOrder({
    status: "confirmed",
    onHand: 5,
    lines: Array.from({ length: count }, () => ({ quantity: 2 }))
  })
  const { change, create } = yield* Shipments
  const lineItems = order.lines.map(({ id }) => ({ orderLineItemId: id, quantity: 1 }))
  const first = yield* statementsOf(create(order.id, { lineItems }))
  const second = yield* statementsOf(create(order.id, { lineItems }))
  const made = yield* create(order.id, { lineItems }).pipe(Effect.flip, Effect.map(({ _tag }) => _tag))
  assert.strictEqual(made, "ValidationFailed")
  const other = yield* buildOrder({ status: "confirmed", onHand: 5, lines: order.lines.map(() => ({ quantity: 2 })) })
  const all = other.lines.map(({ id }) => ({ orderLineItemId: id, quantity: 2 }))
  const sent = yield* create(other.id, { lineItems: all })
  const back = yield* statementsOf(change(other.id, sent.id, { status: "cancelled" }))
  return [first.length, second.length, back.length]
})

describe("statements of a fulfillment", () => {
  it.layer(shipments)((it) => {
    it.effect("fulfills fifty lines in as many statements as one", () =>
      Effect.gen(function*() {
        const one = yield* countsFor(1)
        assert.deepStrictEqual(yield* countsFor(50), one)
        assert.isAtMost(Math.max(...one), 32)
      }).pipe(Effect.provideService(CurrentActor, manager())))
  })
})
