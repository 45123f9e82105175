import { Context, Effect, Schema } from "effect"
import { Activity, Workflow } from "effect/workflow"
import { ClaimedPayment, OrderPaymentRepo } from "../../domain/checkout/OrderPaymentRepo.ts"
import { CompensationFailureRepo } from "../../domain/payments/CompensationFailureRepo.ts"
import { type PaymentRequest, PaymentUnknown } from "../../domain/payments/PaymentAdapter.ts"
import { Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import { OrderId, PaymentId } from "../../domain/platform/ids/Id.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { adapterOf, untilAnswered } from "../payments/ProviderCalls.ts"
import { LateCapture } from "./Captures.ts"
import { voidPayment } from "./CheckoutPayment.ts"
import { passing } from "./CheckoutWorkflow.ts"

const refusal = { message: Schema.String, needsShopper: Schema.optionalKey(Schema.Boolean) }

const Outcome = Schema.Union([
  /** `captures`: a `LateCapture` of this payment has begun. */
  Schema.TaggedStruct("Attached", { captures: Schema.Boolean }),
  Schema.TaggedStruct("Declined", refusal),
  /** The order is paid, ended, or being paid by another request. */
  Schema.TaggedStruct("Busy", {}),
  /** The order left `pending` meanwhile. */
  Schema.TaggedStruct("Ended", {})
])

/**
 * Pays an unpaid order by another means: claims the order, voids its earlier payment, authorizes the new one and
 * captures it (contract-commerce §10). One execution and one key at the provider per payment, so that a crash neither
 * pays twice nor leaves a payment open.
 */
export const PayOrder = Workflow.make("PayOrder", {
  payload: {
    orderId: OrderId,
    paymentId: PaymentId,
    provider: Schema.String,
    methodId: Schema.String,
    token: Schema.NullOr(Schema.String),
    actor: Actor
  },
  success: Outcome,
  idempotencyKey: ({ paymentId }) => paymentId,
  // A defect of the database or the process must run the execution again and not end it.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

type Payload = typeof PayOrder.payloadSchema.Type

/** Without the client secret: what an execution keeps is stored. */
const Authorization = Schema.Union([
  Schema.TaggedStruct("Authorized", { intentId: Schema.String, asksShopper: Schema.Boolean }),
  Schema.TaggedStruct("Refused", refusal)
])

const Voided = Schema.Struct({ voided: Schema.Literal(true) })

const requestOf = (
  { amount, cartId, currency, customerId }: ClaimedPayment,
  { actor: { organizationId }, orderId, paymentId, token }: Payload
): PaymentRequest => ({
  amount,
  currency,
  orderId,
  customerId,
  paymentMethodToken: token,
  metadata: { orderId, organizationId, checkoutId: paymentId, cartId: cartId ?? "" },
  idempotencyKey: paymentId
})

const neverAnswered = Effect.fnUntraced(
  function*(payload: Payload, { amount }: ClaimedPayment, provider: string, intentId: string | null) {
    const { actor, orderId } = payload
    const message = "The payment provider never answered."
    yield* (yield* CompensationFailureRepo).recordVoid({
      organizationId: actor.organizationId,
      checkoutId: orderId,
      provider,
      intentId,
      amount,
      message
    })
    yield* Effect.logError(`a payment of order ${orderId} by ${provider} could not be voided`)
    yield* (yield* OrderPaymentRepo).fail(payload)
    return { _tag: "Declined" as const, message }
  }
)

const authorization = Effect.fnUntraced(function*(request: PaymentRequest, provider: string) {
  const adapter = yield* adapterOf(provider)
  return yield* untilAnswered(
    Authorization,
    adapter.authorize(request).pipe(
      Effect.map(({ id, status }) =>
        status === "canceled"
          ? { _tag: "Refused" as const, message: "The payment was cancelled." }
          : { _tag: "Authorized" as const, intentId: id, asksShopper: status === "requires_action" }
      ),
      Effect.catchTag(
        "PaymentDeclined",
        ({ message, needsShopper = false }) => Effect.succeed({ _tag: "Refused" as const, message, needsShopper })
      )
    ),
    "authorize-"
  )
})

const payOrder = Effect.fnUntraced(function*(payload: Payload) {
  const { methodId, orderId, paymentId, provider } = payload
  const payments = yield* OrderPaymentRepo
  const settings = yield* StoreSettings
  const claimed = yield* Activity.make({
    name: "claim",
    success: Schema.NullOr(ClaimedPayment),
    execute: Effect.map(payments.claim(orderId, paymentId), (found) => found ?? null)
  })
  if (claimed === null) return { _tag: "Busy" as const }
  const { intentId: earlier, key, provider: before } = claimed
  yield* passing("claimed")
  if (earlier !== null && before !== null) {
    const earlierAdapter = yield* adapterOf(before)
    const cancel = earlierAdapter.cancel(earlier, `${key}:cancel`).pipe(
      Effect.as({ voided: true as const }),
      Effect.catchTag("PaymentDeclined", (declined) => Effect.fail(new PaymentUnknown(declined)))
    )
    const answer = yield* untilAnswered(Voided, cancel, "void-")
    if (answer === undefined) return yield* neverAnswered(payload, claimed, before, earlier)
    yield* passing("undone")
  }
  const request = requestOf(claimed, payload)
  const authorized = yield* authorization(request, provider)
  if (authorized === undefined) return yield* neverAnswered(payload, claimed, provider, null)
  if (authorized._tag === "Refused") {
    yield* payments.fail(payload)
    return { ...authorized, _tag: "Declined" as const }
  }
  const { asksShopper, intentId } = authorized
  yield* passing("authorized")
  const attached = yield* payments.attach({
    orderId,
    paymentId,
    provider,
    methodId,
    intentId,
    replaced: claimed,
    asksShopper,
    seconds: settings.confirmationMinutes * 60
  })
  if (!attached) {
    yield* voidPayment({ adapter: yield* adapterOf(provider), request }, intentId)
    yield* payments.fail(payload)
    return { _tag: "Ended" as const }
  }
  yield* passing("created")
  const captures = !asksShopper && settings.capture !== "manual"
  const { organizationId } = payload.actor
  if (captures) yield* LateCapture.execute({ orderId, organizationId, paymentId }, { discard: true, detached: true })
  return { _tag: "Attached" as const, captures }
})

export const payOrderLayer = PayOrder.toLayer((payload) =>
  Effect.provideService(payOrder(payload), CurrentActor, payload.actor)
)
