import { Cause, Effect, Metric, Result } from "effect"
import { ClusterSchema } from "effect/cluster"
import { CheckoutExtensions } from "../../domain/checkout/CheckoutExtension.ts"
import { CheckoutRunRepo, RunLost, type RunToken } from "../../domain/checkout/CheckoutRunRepo.ts"
import type { ClaimedCart } from "../../domain/checkout/ClaimStatements.ts"
import { decodePricedCart } from "../../domain/checkout/PricedCart.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { CheckoutFailed, StillRunning } from "../../domain/platform/errors/ApiErrors.ts"
import { newId } from "../../domain/platform/ids/Id.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { claimCart, priceAndReserve, withChoices } from "./CheckoutCart.ts"
import { afterCheckout, afterOrder, beforeCreate } from "./CheckoutHooks.ts"
import { createOrder, type Finished, leavesCapture, pay } from "./CheckoutOrder.ts"
import {
  authorizationFailed,
  authorize,
  cancelOrder,
  clientSecretOf,
  mainIntent,
  releaseCheckout,
  voidAuthorized,
  voidEarlier,
  voidPayments
} from "./CheckoutPayment.ts"
import { paymentsOf } from "./CheckoutTenders.ts"
import { type CheckoutResult, type CheckoutRun, CheckoutWorkflow, encodePayload, passing } from "./CheckoutWorkflow.ts"

const finish = Effect.fnUntraced(function*(
  run: CheckoutRun,
  { ended, order }: Finished,
  { hookErrors, ...answer }: Omit<CheckoutResult, "order">
) {
  const result: CheckoutResult = {
    ...answer,
    order,
    hookErrors: [...hookErrors, ...yield* afterCheckout(order)]
  }
  if (!ended) yield* (yield* CheckoutRunRepo).end(run)
  return result
})

const storedOrder = Effect.fnUntraced(function*(run: CheckoutRun) {
  const stored = yield* (yield* OrderRepo).find(run.checkoutId)
  if (stored === undefined) return yield* Effect.die(new Error(`order ${run.checkoutId} exists but cannot be read`))
  const [hold] = yield* (yield* ReservationRepo).holds([run.checkoutId])
  const priced = hold === undefined || hold.pricing === "null" ? undefined : yield* decodePricedCart(hold.pricing)
  const payments = yield* paymentsOf(run, {
    ...stored.order,
    paymentProvider: stored.payments.at(-1)?.provider,
    tenders: priced?.tenders
  })
  const undoPayment = voidPayments(payments, stored.payments.map(({ intentId }) => intentId))
  const isReplaced = stored.paymentId !== null || stored.paymentClaimId !== null
  return { order: stored.order, isReplaced, payments, priced, rejectedCodes: priced?.rejectedCodes ?? [], undoPayment }
})

const captureFailed = CheckoutFailed.of("The payment could not be captured. Try again, or pay another way.", {
  reason: "payment_declined"
})

const isConcluded = (order: Order) =>
  Effect.map(StoreSettings, ({ capture }) =>
    order.amountCaptured !== null || order.status !== "pending" ||
    order.tenders.some(({ status }) => status === "pending") || leavesCapture(capture, order))

/** Repeats the result of a checkout that has ended. A run that is under way may still cancel the order. */
const replay = Effect.fn("Checkout.replay")(function*(run: CheckoutRun) {
  // Look before reading the order: once its run has ended, the order is final.
  if (yield* (yield* CheckoutRunRepo).isOpen(run.checkoutId)) return yield* StillRunning.of()
  const { isReplaced, order, payments, rejectedCodes } = yield* storedOrder(run)
  if (order.status === "cancelled" && order.amountCaptured === null) return yield* captureFailed
  if (!isReplaced && !(yield* isConcluded(order))) return yield* new RunLost()
  const result: CheckoutResult = {
    order,
    clientSecret: isReplaced ? null : yield* clientSecretOf(payments),
    hookErrors: [],
    rejectedCodes
  }
  return result
})

/** Continues a checkout whose earlier run created the order and died: pays the order or finishes undoing it. */
const resume = Effect.fn("Checkout.resume")(function*(run: CheckoutRun) {
  const { order, payments, priced, rejectedCodes, undoPayment } = yield* storedOrder(run)
  // The run that died may not have informed the plugins.
  const announced = Effect.fnUntraced(function*(current: Order) {
    yield* (yield* CheckoutExtensions).created(current, priced?.extensions)
    return yield* afterOrder(current)
  })
  const end = (finished: Finished, clientSecret: string | null, hookErrors: CheckoutResult["hookErrors"]) =>
    finish(run, finished, { clientSecret, hookErrors, rejectedCodes })
  if (order.amountCaptured !== null) {
    // A paid order stays, even if the provider answers differently now.
    const delivered = yield* (yield* Fulfillments).deliver(order)
    const secret = yield* clientSecretOf(payments)
    return yield* end({ order: delivered, ended: false }, secret, yield* announced(delivered))
  }
  if (order.status === "cancelled") {
    yield* cancelOrder(order.id, undoPayment, run)
    return yield* captureFailed
  }
  const authorized = yield* Effect.result(authorize(payments))
  if (Result.isFailure(authorized)) {
    // The order exists, so the amounts were authorized before. Void these authorizations, even if a provider now
    // answers differently.
    const paid = yield* cancelOrder(order.id, undoPayment, run)
    if (paid === undefined) return yield* authorizationFailed(authorized.failure)
    return yield* end({ order: paid, ended: false }, null, yield* announced(paid))
  }
  const intents = authorized.success
  const hookErrors = yield* announced(order)
  const paid = yield* pay(run, order, payments, intents)
  return yield* end(paid, mainIntent(intents).clientSecret, hookErrors)
})

const undoing = <A, E extends { readonly _tag: string }, R, F, S>(
  step: Effect.Effect<A, E, R>,
  undo: (error: E) => Effect.Effect<void, F, S>
) =>
  Effect.tapError(
    step,
    (error): Effect.Effect<void, F, S> =>
      error._tag === "RunLost" || error._tag === "ProcessStopping" ? Effect.void : undo(error)
  )

/** Turns a claimed cart into a paid order. Each step names the compensation of the steps before it. */
const purchase = Effect.fn("Checkout.purchase")(function*(run: CheckoutRun, cart: ClaimedCart) {
  const pricedCart = yield* undoing(
    priceAndReserve(run, cart),
    // Release after a refusal too: a reservation that timed out may still be granted, and the tombstone stops it.
    () => releaseCheckout(run, voidEarlier(run))
  )
  yield* passing("reserved")
  const payments = yield* paymentsOf(run, pricedCart)
  const intents = yield* Effect.catchTag(
    undoing(authorize(payments), (error) => releaseCheckout(run, () => voidAuthorized(payments, error))),
    "AuthorizationFailed",
    authorizationFailed
  )
  const main = mainIntent(intents)
  yield* passing("authorized")
  const order = yield* undoing(
    Effect.flatMap(beforeCreate(run, pricedCart, main), (final) => createOrder(run, final, payments, intents)),
    () => releaseCheckout(run, () => voidPayments(payments, intents.map(({ id }) => id)))
  )
  yield* passing("created")
  yield* (yield* CheckoutExtensions).created(order, pricedCart.extensions)
  const hookErrors = yield* afterOrder(order)
  const paid = yield* pay(run, order, payments, intents)
  const { clientSecret, redirectUrl } = main
  return yield* finish(run, paid, { clientSecret, redirectUrl, hookErrors, rejectedCodes: pricedCart.rejectedCodes })
})

const checkouts = Metric.counter("stoa_checkouts_total", {
  description: "Checkouts that ended in this process: created, or the code of the error; a repeated run counts again",
  incremental: true
})

const count = (outcome: string) => Metric.update(Metric.withAttributes(checkouts, { outcome }), 1)

/** Runs a checkout to its end, or from where the run before it died. */
export const runCheckout = Effect.fn("Checkout.run")(
  function*(run: CheckoutRun) {
    const claim = claimCart(run)
    // An earlier run may have reserved and authorized before its cart was lost.
    const cart = yield* run.process === null ? undoing(claim, () => releaseCheckout(run, voidEarlier(run))) : claim
    if (cart.ordered) return yield* run.process === null ? resume(run) : replay(run)
    yield* passing("claimed")
    return yield* purchase({ ...run, request: withChoices(run.request, cart), inTables: cart.inTables }, cart)
  },
  (checkout, run) =>
    checkout.pipe(
      Effect.tapError((error) =>
        "error" in error ? Effect.andThen(passing("failed"), count(error.error.code)) : Effect.void
      ),
      Effect.tap(count("created")),
      Effect.provideService(CurrentActor, run.actor)
    )
)

/** Leaves the execution to the process that takes over its shard, which can do so only when nothing runs on it here. */
const abandoned = Effect.failCause(Cause.annotate(Cause.interrupt(), ClusterSchema.Abandon.annotation))

export const checkoutLayer = CheckoutWorkflow.toLayer((payload) =>
  Effect.gen(function*() {
    const run: CheckoutRun = { ...payload, owner: newId<RunToken>(), process: null }
    yield* (yield* CheckoutRunRepo).takeOver(run, encodePayload(payload))
    return yield* runCheckout(run)
  }).pipe(
    Effect.catchTags({ RunLost: () => abandoned, ProcessStopping: () => abandoned, StillRunning: Effect.die }),
    Effect.provideService(CurrentActor, payload.actor)
  )
)
