import { assert } from "@effect/vitest"
import { Effect, Layer, Option, Struct } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { type PaymentAdapter, PaymentDeclined } from "../../src/domain/payments/PaymentAdapter.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { OrderId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { LateCapture } from "../../src/workflows/checkout/Captures.ts"
import { AtFaultPoint, type FaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { type ScriptedPayment, scriptedProvider } from "../checkout/ScriptedProvider.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, testAppLayer } from "../support/TestApp.ts"

/** A provider of cards, which sends events, and one of gift cards as a plugin brings it. */
export const card = scriptedProvider("whsec")
export const balance = scriptedProvider(undefined, "gift-card")

/** What `conceal` makes of a code: the code is in no token that the provider gets. */
const concealed = (code: string): string => `secret:${code.replaceAll("-", "").toLowerCase()}`

/** What a balance is worth: the digits of its code. */
const worthOf = (token: string): number => Number(/\d+/.exec(token)?.[0] ?? 0)

const giftCards: PaymentAdapter = {
  ...Struct.omit(balance.adapter, ["verifyWebhook"]),
  isStoredValue: true,
  conceal: concealed,
  offer: ({ amount, paymentMethodToken }) => {
    const token = paymentMethodToken ?? ""
    const code = token.slice(-4)
    return token.includes("unknown")
      ? Effect.fail(
        new PaymentDeclined({
          code: "PAYMENT_INTENT_CREATE_FAILED",
          message: `Gift card ending in ${code} is unknown.`
        })
      )
      : Effect.succeed({ amount: Math.min(amount, worthOf(token)), label: `Gift card ending in ${code}` })
  }
}

/** The runs that are to die, by the request that began them or by their execution: at which passing of which boundary. */
const deaths = new Map<string, { readonly at: FaultPoint; left: number }>()

const boundaries = Layer.succeed(AtFaultPoint, (point) =>
  Effect.gen(function*() {
    const actor = yield* Effect.serviceOption(CurrentActor)
    const instance = yield* Effect.serviceOption(WorkflowEngine.WorkflowInstance)
    const death = (Option.isSome(actor) ? deaths.get(actor.value.requestId ?? "") : undefined) ??
      (Option.isSome(instance) ? deaths.get(instance.value.executionId) : undefined)
    if (death === undefined || death.at !== point || --death.left !== 0) return
    return yield* Effect.die(new Error("the process died"))
  }))

const storeOf = (capture: "automatic" | "manual") =>
  testAppLayer({ payments: { adapters: [card.adapter, giftCards], capture } }, { logLevel: "none" }).pipe(
    Layer.provide(boundaries)
  )

/** A store that takes cards and gift cards, whose checkouts can die at their boundaries. */
export const tenderedStore = storeOf("automatic")

/** The same store, where operators capture. */
export const manualStore = storeOf("manual")

let events = 0

/** An event of the provider of cards. */
export const tell = (orderId: string, payment: ScriptedPayment, type: string, amount: number) => {
  const object = { id: payment.id, amount, currency: "usd", metadata: { orderId, organizationId: "org_default" } }
  const body = JSON.stringify({ id: `event-${++events}`, type, data: { object } })
  const headers = { "x-payment-signature": signTestEvent("whsec", body) }
  return Effect.map(
    api("POST", "/api/payments/webhook", { body, headers }),
    (answer) => assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  )
}

let purchases = 0

/** A cart of one thing at this price, and instruments that no other purchase of the file uses. */
export const aPurchase = Effect.fnUntraced(function*({ kind = "card", price = 10_000, worth = 3_000 } = {}) {
  const name = `${String.fromCharCode(97 + purchases % 26)}x${"y".repeat(Math.floor(purchases++ / 26))}`
  const entityId = yield* aProduct({ price })
  const cart = yield* aCartWith(entityId)
  const giftCard = `${worth}-${name}`
  return { cart, entityId, token: `${kind}_${name}`, giftCard, cardToken: concealed(giftCard), name }
})

export type TenderedPurchase = Effect.Success<ReturnType<typeof aPurchase>>

/** Checks out with the gift card first; the card pays the rest. A run of it can die at a boundary. */
export const pay = (
  { cart, giftCard, name, token }: TenderedPurchase,
  body: object = {},
  death?: readonly [at: FaultPoint, passing: number]
) => {
  if (death !== undefined) deaths.set(name, { at: death[0], left: death[1] })
  const paid = { paymentMethodId: "scripted", paymentMethodToken: token, giftCardCodes: [giftCard], ...body }
  const ask = checkOut(cart, paid, { "idempotency-key": `key-of-${name}-${cart.id}`, "x-request-id": name })
  // A shopper whose checkout still runs asks again, as the answer says.
  return Effect.flatMap(
    ask,
    (first) =>
      first.status !== 503 && first.status !== 409 ? Effect.succeed(first) : eventually(
        "the checkout that still runs to end",
        Effect.map(ask, (answer) => answer.status === 409 || answer.status === 503 ? undefined : answer)
      )
  )
}

/** The capture of an order after its shopper has confirmed it dies once at this boundary. */
export const dyingLate = Effect.fnUntraced(function*(orderId: string, at: FaultPoint) {
  const order = { orderId: OrderId.make(orderId), organizationId: "org_default" }
  const death = { at, left: 1 }
  deaths.set(yield* LateCapture.executionId(order), death)
  return death
})

/** What the providers have of the two payments. */
export const booksOf = ({ cardToken, token }: TenderedPurchase) => ({
  giftCard: Struct.pick(balance.paymentOf(cardToken) ?? { captured: 0, refunded: 0 }, ["captured", "refunded"]),
  card: Struct.pick(card.paymentOf(token) ?? { captured: 0, refunded: 0 }, ["captured", "refunded"])
})

/** Waits until nothing of either payment is held or kept. */
export const assertReturned = Effect.fnUntraced(function*({ cardToken, token }: TenderedPurchase) {
  for (const [provider, instrument] of [[balance, cardToken], [card, token]] as const) {
    const payment = yield* eventually(
      `nothing of ${instrument} to be held`,
      Effect.sync(() => {
        const payment = provider.paymentOf(instrument)
        return payment === undefined ? "none" : payment.status === "canceled" && payment
      })
    )
    if (payment !== "none") assert.strictEqual(payment.captured, payment.refunded)
  }
})
