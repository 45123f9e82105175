import { Effect, Schema } from "effect"
import { itemLabel } from "../../domain/carts/Line.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { OrderId } from "../../domain/platform/ids/Id.ts"
import { askOutside, OutsideFailed } from "../../domain/platform/modules/OutsideService.ts"
import { defineTask, GiveUp, type Retries, type Task, type TaskCall } from "../../domain/platform/tasks/Task.ts"
import { taxableAmount } from "../../domain/pricing/PriceSteps.ts"
import { type TaxAdapter, type TaxedOrder, TaxSettings } from "../../domain/tax/TaxAdapter.ts"
import { isVoid, reportTaxSlug, taxQueue, voidTaxSlug } from "../../domain/tax/TaxNotices.ts"

const decode = Schema.decodeUnknownEffect(Schema.Struct({ orderId: OrderId }))

/** No request waits for this call, so the service has more time than in a checkout. */
const limitMs = 20_000

/** After 30 s, then twice as long each time, 4 hours at most; together about a day. */
const retries: Retries = {
  attempts: 14,
  backoff: { type: "exponential", delay: 30_000, jitter: 0.2, ceiling: 4 * 3_600_000 }
}

/** A report that is still retried must not follow the void of its order, so the two never run at the same time. */
const concurrency = { key: ({ orderId }: { readonly orderId?: unknown }) => `tax/${String(orderId)}` }

const taxedOrder = (order: Order, idempotencyKey: string): TaxedOrder => ({
  orderId: order.id,
  organizationId: order.organizationId,
  orderNumber: order.orderNumber,
  currency: order.currency,
  placedAt: order.placedAt,
  address: order.shippingAddress,
  lines: order.lineItems.map(({ id, quantity, sku, taxAmount, ...line }) => ({
    lineItemId: id,
    title: itemLabel(line),
    sku,
    quantity,
    amount: taxableAmount({ ...line, quantity }),
    taxAmount
  })),
  shippingTotal: order.shippingTotal,
  taxTotal: order.taxTotal,
  taxIncluded: order.taxIncluded,
  idempotencyKey
})

/** In a deployment without the adapter its jobs fail and stay listed. */
const about = (
  slug: string,
  work: (adapter: TaxAdapter, order: Order) => Effect.Effect<string, OutsideFailed, CurrentActor>
): Effect.Effect<Task, never, Orders | TaxSettings> =>
  Effect.gen(function*() {
    const orders = yield* Orders
    const settings = yield* TaxSettings
    return defineTask({
      slug,
      queue: taxQueue,
      retries,
      concurrency,
      handler: Effect.fn(slug)(function*({ input }: TaskCall) {
        const { orderId } = yield* Effect.mapError(decode(input), () => new GiveUp("The input names no order."))
        const stored = yield* orders.find(orderId)
        const { adapter } = settings
        if (stored === undefined) return yield* Effect.fail(new GiveUp("There is no such order."))
        if (adapter === undefined || adapter.id !== stored.taxProvider) {
          return yield* new OutsideFailed({ cause: `The tax adapter '${stored.taxProvider}' is not configured.` })
        }
        return { output: { outcome: yield* work(adapter, stored.order) } }
      })
    })
  })

/**
 * Reports an order to the adapter that taxed it (contract §3.5). Skips an order that has ended since: its void may
 * already have been sent, and a later report would never be voided.
 */
export const reportTax = about(
  reportTaxSlug,
  (adapter, order) =>
    adapter.report === undefined || isVoid(order)
      ? Effect.succeed("skipped")
      : Effect.as(
        askOutside(
          (signal) => adapter.report?.(taxedOrder(order, `${order.id}:report`), signal) ?? Effect.void,
          limitMs
        ),
        "reported"
      )
)

/** Reports a cancelled or refunded order (contract §4.2, `voidTax`). */
export const voidTax = about(voidTaxSlug, (adapter, { id, organizationId }) => {
  const order = { orderId: id, organizationId, idempotencyKey: `${id}:void` }
  return adapter.void === undefined
    ? Effect.succeed("skipped")
    : Effect.as(askOutside((signal) => adapter.void?.(order, signal) ?? Effect.void, limitMs), "voided")
})
