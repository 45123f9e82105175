import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { CustomerOrders } from "../orders/CustomerOrders.ts"
import type { Order } from "../orders/Order.ts"
import { admitReader, Orders } from "../orders/Orders.ts"
import { isTransient } from "../platform/errors/Transience.ts"
import { Hooks } from "../platform/hooks/Hooks.ts"
import { OrderId } from "../platform/ids/Id.ts"
import { Jobs } from "../platform/jobs/Jobs.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { defineTask, GiveUp, type Retries, type Task } from "../platform/tasks/Task.ts"
import { Downloads } from "./Downloads.ts"
import { digitalFulfillments, trackingOf } from "./Fulfillment.ts"
import { FulfillmentRepo } from "./FulfillmentRepo.ts"

const deliverSlug = "fulfillment/deliver"

/** Fulfillments of orders (spec §4, contract §5). */
export class Fulfillments extends Context.Service<Fulfillments>()("stoa/domain/fulfillment/Fulfillments", {
  make: Effect.gen(function*() {
    const orders = yield* Orders
    const own = yield* CustomerOrders
    const downloads = yield* Downloads
    const repo = yield* FulfillmentRepo
    const hooks = yield* Hooks
    const jobs = yield* Jobs

    /**
     * Delivers the digital lines of a paid order and runs `fulfillment.afterCreate` for each; idempotent. An unpaid or
     * cancelled order stays unchanged.
     */
    const handOver = Effect.fn("Fulfillments.handOver")(function*(order: Order) {
      const due = digitalFulfillments(order, DateTime.toDateUtc(yield* DateTime.now))
      if (due.length === 0) return order
      const made = yield* repo.deliver(order.id, due)
      yield* Effect.forEach(made, (one) => hooks.after("fulfillment.afterCreate", one), { discard: true })
      const delivered = new Set(made.flatMap(({ lineItems }) => lineItems.map(({ id }) => id)))
      const lineItems = order.lineItems.map((line) =>
        delivered.has(line.id) ? { ...line, fulfillmentStatus: "fulfilled" as const, fulfillable: 0 } : line
      )
      return { ...order, lineItems }
    })

    const later = Effect.fnUntraced(function*(order: Order, defect: unknown) {
      yield* Effect.logError(`order ${order.id} is paid, and what is digital of it could not be handed over`, defect)
      const { id: orderId, organizationId } = order
      yield* Effect.catch(jobs.enqueue(deliverSlug, { orderId }, { organizationId }), Effect.die)
      return order
    })

    return {
      handOver,
      /**
       * The same for an order that was just paid. A job retries a failure: the paid order remains (contract §3.6).
       * Without the database the caller retries.
       */
      deliver: Effect.fn("Fulfillments.deliver")((order: Order) =>
        Effect.catchDefect(
          handOver(order),
          (defect) => isTransient(defect) ? Effect.die(defect) : later(order, defect)
        )
      ),
      /** Adds the links of downloads. 404. */
      ofOrder: Effect.fn("Fulfillments.ofOrder")(function*(orderId: OrderId, page: PageRequest) {
        const order = yield* admitReader(yield* orders.find(orderId))
        const found = yield* repo.ofOrder(order.id, page)
        return { ...found, items: yield* downloads.linked(order.id, found.items) }
      }),
      /** Shows what the customer may see; 404. */
      trackingOfOwn: Effect.fn("Fulfillments.trackingOfOwn")(function*(idOrNumber: string, page: PageRequest) {
        const found = yield* repo.ofOrder((yield* own.findOwn(idOrNumber)).id, page)
        return { ...found, items: found.items.map(trackingOf) }
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Fulfillments, Fulfillments.make)
}

const decode = Schema.decodeUnknownEffect(Schema.Struct({ orderId: OrderId }))

/** After 30 s, then twice as long each time, 4 hours at most; together about a day. */
const retries: Retries = {
  attempts: 14,
  backoff: { type: "exponential", delay: 30_000, jitter: 0.2, ceiling: 4 * 3_600_000 }
}

/**
 * Delivers the digital lines of a paid order if its checkout could not (contract §3.6). Repeating it is safe; of
 * several jobs of one order the last one suffices.
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
