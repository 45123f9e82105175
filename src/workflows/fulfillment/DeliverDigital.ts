import { Effect, Schema } from "effect"
import { deliverSlug, Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { defineTask, GiveUp, type Retries, type Task } from "../../domain/jobs/Task.ts"
import { Orders } from "../../domain/orders/Orders.ts"

const decode = Schema.decodeUnknownEffect(Schema.Struct({ orderId: Uuid }))

/** After 30 s, then twice as long each time, 4 hours at most; together about a day. Then an operator has to look. */
const retries: Retries = {
  attempts: 14,
  backoff: { type: "exponential", delay: 30_000, jitter: 0.2, ceiling: 4 * 3_600_000 }
}

/**
 * The task `fulfillment/deliver`: delivers the digital lines of a paid order if its checkout could not (contract §3.6).
 * Each line is delivered once, even if the task repeats. Of several jobs of one order, the last one suffices.
 */
export const deliverDigital: Effect.Effect<Task, never, Fulfillments | Orders> = Effect.gen(function*() {
  const fulfillments = yield* Fulfillments
  const orders = yield* Orders
  return defineTask({
    slug: deliverSlug,
    retries,
    concurrency: { key: ({ orderId }) => `fulfillment/${String(orderId)}`, supersedes: true },
    handler: Effect.fn(deliverSlug)(function*({ input }) {
      const { orderId } = yield* Effect.mapError(decode(input), () => new GiveUp("The input names no order."))
      const stored = yield* orders.find(orderId)
      if (stored === undefined) return yield* Effect.fail(new GiveUp("There is no such order."))
      const { lineItems } = yield* fulfillments.handOver(stored.order)
      return { output: { fulfilled: lineItems.filter((line) => line.fulfillmentStatus === "fulfilled").length } }
    })
  })
})
