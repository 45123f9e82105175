import { Effect } from "effect"
import { afterHook, beforeHook, definePlugin, defineTask, HookRefusal } from "stoa/plugin"

/*
 * A plugin of a deployment's own: a rule, a job and what ties them to the core, in one file. It is introduced by one line in
 * commerce.config.ts, and taking that line out takes all of it away. docs/plugins.md has one with tables and routes.
 */

/** Parcels that are wrapped by hand hold so many of one thing at most. */
const mostOfOne = 20

/** Refused while the cart is filled, before the checkout. */
const notTooMany = beforeHook("cart.beforeAddItem", ({ data }) =>
  data.quantity > mostOfOne
    ? Effect.fail(new HookRefusal(`At most ${mostOfOne} of one thing fit into a gift.`))
    : Effect.void)

/** What happens after an order is a job: it is tried again when it fails, and no shopper waits for it. */
const wrapLater = afterHook(
  "orders.afterCreate",
  ({ context, result }) => context.jobs.enqueue("gifts/wrap", { orderId: result.id, units: result.lineItems.length })
)

/** Done once for an order, and by one process at a time. */
const wrap = defineTask({
  slug: "gifts/wrap",
  retries: { attempts: 5, backoff: { type: "exponential", delay: 1_000 } },
  concurrency: { key: ({ orderId }) => `gift-${String(orderId)}` },
  handler: ({ ctx, input }) =>
    Effect.gen(function*() {
      const order = yield* ctx.services.orders.get(String(input["orderId"]))
      return { output: { orderNumber: order.orderNumber, bows: order.lineItems.length } }
    })
})

/** Gifts: at most twenty of one thing, and each order is wrapped by a job. */
export const giftWrap = definePlugin({
  id: "gifts",
  version: "1.0.0",
  hooks: () => [notTooMany, wrapLater],
  tasks: () => [wrap]
})
