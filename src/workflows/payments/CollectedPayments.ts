import { Context, Effect, Layer, Option, Schema, Struct } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { type CollectedPayment, CollectRequest } from "../../domain/payments/CollectedPayment.ts"
import { CollectedPaymentRepo, type NewCollectedPayment } from "../../domain/payments/CollectedPaymentRepo.ts"
import {
  type PaymentAdapter,
  PaymentAdapters,
  PaymentDeclined,
  type PaymentRequest
} from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor, requireAnyOf, systemActor } from "../../domain/platform/access/Actor.ts"
import { ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { conflict, invalid, notFound } from "../../domain/platform/errors/ErrorKinds.ts"
import { type CollectedPaymentId, newId } from "../../domain/platform/ids/Id.ts"
import { everyIssue, issuesOf } from "../../domain/platform/text/Issues.ts"
import { captureKey, isCaptured } from "../checkout/CheckoutPayment.ts"
import { adapterOf, askProvider } from "./ProviderCalls.ts"
import { VoidPayment } from "./VoidPayment.ts"

class UnknownMethod extends invalid(
  "CollectMethod",
  "method",
  (method: string) => `method names no payment method of this deployment: "${method}".`
) {}
class KeyOfAnother
  extends conflict("CollectKeyReused", "This key collected another payment. Use a new key for a new payment.")
{}
class GivenBack extends conflict("CollectedGivenBack", "This payment was given back. Collect it under a new key.") {}
class PaymentClaimed
  extends conflict("CollectedClaimed", "This payment pays an order. Refund the order to give it back.")
{}
class CollectedNotFound extends notFound("CollectedPayment", "No payment was collected under this key.") {}

const decode = Schema.decodeUnknownEffect(Schema.toType(CollectRequest), everyIssue)

const declined = (message: string) => new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message })

const requestOf = (payment: NewCollectedPayment & Pick<CollectedPayment, "organizationId">): PaymentRequest => {
  const { amount, currency, customerId, id, orderId, organizationId, token } = payment
  const metadata = { orderId, organizationId, paymentId: id }
  return { amount, currency, orderId, customerId, paymentMethodToken: token, metadata, idempotencyKey: id }
}

const authorize = Effect.fnUntraced(function*(adapter: PaymentAdapter, request: PaymentRequest) {
  const intent = yield* askProvider(adapter.authorize(request))
  return intent.status === "canceled" ? yield* declined("The payment was cancelled.") : intent
})

const capture = Effect.fnUntraced(function*(
  adapter: PaymentAdapter,
  request: PaymentRequest,
  intent: Effect.Success<ReturnType<typeof authorize>>
) {
  if (intent.status === "requires_action") {
    return yield* declined("The payment has to be confirmed by its owner, which is not possible here.")
  }
  if (isCaptured(intent, request)) return
  const captured = yield* askProvider(adapter.capture(intent.id, request.amount, captureKey(request)))
  if (!isCaptured(captured, request)) return yield* declined("The amount was not taken in full.")
})

const permitted = Effect.flatMap(CurrentActor, (actor) => requireAnyOf(actor, ["orders:create"]))

/** Gives payments back: the provider's answer is awaited for five seconds, and asked for until it comes. */
const returning = Effect.gen(function*() {
  const [engine, repo] = [yield* WorkflowEngine.WorkflowEngine, yield* CollectedPaymentRepo]

  const finish = Effect.fnUntraced(function*(payment: CollectedPayment) {
    const { intentId, provider: providerId } = payment
    const run = VoidPayment.execute({ providerId, request: requestOf(payment), intentId })
    const outcome = Option.getOrUndefined(yield* Effect.timeoutOption(run, "5 seconds"))
    if (outcome === undefined) return payment
    const ended = yield* repo.endReturn(payment.id, outcome === "given-up" ? "stuck" : "returned")
    return ended ?? (yield* repo.findByKey(payment.key)) ?? payment
  }, Effect.provideService(WorkflowEngine.WorkflowEngine, engine))

  const giveBack = Effect.fn("CollectedPayments.giveBack")(function*(key: string) {
    yield* permitted
    const payment = (yield* repo.startReturn(key)) ?? (yield* new CollectedNotFound())
    if (payment.status === "claimed") return yield* new PaymentClaimed()
    const { status } = payment.status === "returning" ? yield* finish(payment) : payment
    return { isGivenBack: status === "returned" || status === "declined" }
  })

  /** Gives back at most `limit` payments that no order has claimed in time. Returns how many it looked at. */
  const returnDue = Effect.fn("CollectedPayments.returnDue")(function*(limit: number) {
    const due = yield* repo.takeDue(limit)
    yield* Effect.forEach(due, (payment) =>
      finish(payment).pipe(
        Effect.provideService(CurrentActor, systemActor(payment.organizationId)),
        Effect.catchCause((cause) =>
          Effect.logWarning(`collected payment ${payment.id} could not be given back`, cause)
        )
      ), { concurrency: 4, discard: true })
    return due.length
  })

  return { finish, giveBack, returnDue }
})

/** Writes a payment, as much as its instrument offers, before any money moves. */
const beginning = Effect.gen(function*() {
  const [adapters, repo] = [yield* PaymentAdapters, yield* CollectedPaymentRepo]
  return Effect.fnUntraced(function*({ claimHours = 48, ...asked }: CollectRequest) {
    const { adapter, token } = adapters.named(asked.method) ?? (yield* new UnknownMethod(asked.method))
    const sent = asked.token ?? token
    const payment: NewCollectedPayment = {
      id: newId<CollectedPaymentId>(),
      ...Struct.pick(asked, ["key", "amount", "currency", "orderId"]),
      customerId: asked.customerId ?? null,
      provider: adapter.providerId,
      token: sent === null ? null : adapter.conceal?.(sent) ?? sent,
      label: adapter.providerId,
      singlePurpose: false
    }
    if (adapter.offer === undefined) return yield* repo.insert(payment, claimHours)
    const { organizationId } = yield* CurrentActor
    const offer = yield* askProvider(adapter.offer(requestOf({ ...payment, organizationId })))
    const { label, singlePurpose = false } = offer
    const { untaxedAmount = asked.amount } = asked
    const amount = Math.min(offer.amount, asked.amount, singlePurpose ? untaxedAmount : asked.amount)
    if (amount === 0) return yield* declined("Nothing is left that it could pay.")
    return yield* repo.insert({ ...payment, label, singlePurpose, amount }, claimHours)
  })
})

/** Payments whose order does not exist yet (contract-tills-channels §0, C1). Call it in no transaction. */
export class CollectedPayments
  extends Context.Service<CollectedPayments>()("stoa/workflows/payments/CollectedPayments", {
    make: Effect.gen(function*() {
      const [adapters, repo, begin] = [yield* PaymentAdapters, yield* CollectedPaymentRepo, yield* beginning]
      const { finish, giveBack, returnDue } = yield* returning

      const refuseCapture = Effect.fnUntraced(function*(key: string, intentId: string, refusal: PaymentDeclined) {
        const begun = yield* repo.startReturn(key, { intentId, failure: refusal.message })
        if (begun !== undefined) yield* finish(begun)
        return yield* refusal
      })

      /** Every call carries the payment's id as its key: repeating it after a crash takes no money twice. */
      const take = Effect.fnUntraced(function*(payment: CollectedPayment) {
        const [adapter, request] = [yield* adapterOf(payment.provider), requestOf(payment)]
        const intent = yield* Effect.tapErrorTag(
          authorize(adapter, request),
          "PaymentDeclined",
          ({ message }) => repo.note(payment.id, { failure: message })
        )
        yield* Effect.catchTag(
          capture(adapter, request, intent),
          "PaymentDeclined",
          (refusal) => refuseCapture(payment.key, intent.id, refusal)
        )
        return (yield* repo.note(payment.id, intent)) ?? (yield* repo.findByKey(payment.key)) ?? payment
      }, Effect.provideService(PaymentAdapters, adapters))

      const collect = Effect.fn("CollectedPayments.collect")(function*(sent: CollectRequest) {
        yield* permitted
        const asked = yield* Effect.mapError(decode(sent), (error) => ValidationFailed.issues(issuesOf(error)))
        const known = (yield* repo.findByKey(asked.key)) ?? (yield* begin(asked))
        const isSame = known.orderId === asked.orderId && known.currency === asked.currency &&
          known.amount <= asked.amount
        if (!isSame) return yield* new KeyOfAnother()
        const payment = known.status === "pending" ? yield* take(known) : known
        if (payment.failure !== null) return yield* declined(payment.failure)
        const { amount, id, intentId, label, provider, status } = payment
        if (intentId === null || !["collected", "claimed"].includes(status)) return yield* new GivenBack()
        return { id, provider, intentId, amount, label }
      })

      return {
        /**
         * Takes money now, for an order that follows (needs `orders:create`). An instrument with less pays what it has.
         * An order has to claim it (`paymentId` of a tender of `createSold`), else it is given back. The same key
         * returns the same payment, also after a crash. 409 for the key of another payment or one that was given back;
         * 422 for an unknown method; PaymentDeclined; PaymentUnknown: call again with the same key.
         */
        collect,
        /**
         * Gives a collected payment back that no order has claimed. Not given back yet: the provider is silent, and is
         * asked until it answers. 404, 409.
         */
        giveBack,
        returnDue
      }
    })
  })
{
  static readonly layer = Layer.effect(CollectedPayments, CollectedPayments.make)
}
