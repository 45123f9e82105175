import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { AtFaultPoint, type FaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { type PaymentOperation, scriptedProvider } from "../checkout/ScriptedProvider.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, testAppLayer } from "../support/TestApp.ts"

export const provider = scriptedProvider("scripted")
export const concealing = scriptedProvider("concealing", "concealing")
export const vouchers = scriptedProvider("vouchers", "vouchers")

const { verifyWebhook: _, ...silent } = concealing.adapter

/** Says of an instrument of this name that its payment is void. */
const voidedAtOnce: typeof silent.authorize = (request) =>
  Effect.map(silent.authorize(request), (intent) =>
    request.paymentMethodToken?.startsWith("ok_concealed_void") === true
      ? { ...intent, status: "canceled" as const }
      : intent)

let orders = 0

/** Where the run of a payment dies, once, by the id of its request. */
export const deaths = new Map<string, FaultPoint>()

const dying = Layer.succeed(AtFaultPoint, (point) =>
  Effect.gen(function*() {
    const actor = yield* Effect.serviceOption(CurrentActor)
    const id = Option.isSome(actor) ? actor.value.requestId ?? "" : ""
    if (deaths.get(id) !== point) return
    deaths.delete(id)
    return yield* Effect.die(new Error("the process died"))
  }))

/** An order of one product for 1,000 whose shopper has left the confirmation of its payment open. */
export const anOpenOrder = Effect.gen(function*() {
  const [entityId, token] = [yield* aProduct({ stock: 5 }), `asks_${++orders}`]
  const cart = yield* aCartWith(entityId)
  const answer = yield* checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: token })
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return { id: answer.text("data.id"), answer, cart, entityId, token }
})
export type OpenOrder = Effect.Success<typeof anOpenOrder>

export const read = ({ cart, id }: OpenOrder) => api("GET", `/api/orders/${id}`, { headers: cart.headers })

export const another = (token: string, method = "scripted") => ({ paymentMethodId: method, paymentMethodToken: token })

export const pay = ({ cart, id }: OpenOrder, token: string, headers: Readonly<Record<string, string>> = {}) =>
  api("POST", `/api/orders/${id}/payments`, { headers: { ...cart.headers, ...headers }, body: another(token) })

export const cancel = ({ cart, id }: OpenOrder) => api("POST", `/api/orders/${id}/cancel`, { headers: cart.headers })

export const event = (orderId: string, intentId: string | undefined, type: string, secret = "scripted") => {
  const object = { id: intentId, amount: 1_000, currency: "usd", metadata: { orderId, organizationId: "org_default" } }
  const body = JSON.stringify({ id: `${intentId}-${type}`, type: `payment_intent.${type}`, data: { object } })
  const headers = { "x-payment-signature": signTestEvent(secret, body) }
  return api("POST", "/api/payments/webhook", { body, headers })
}

export const ledgerOf = (token: string) => {
  const { captured, refunded, status } = provider.paymentOf(token) ?? {}
  return { captured, refunded, status }
}
export const nothing = { captured: 0, refunded: 0, status: "canceled" } as const
export const taken = { captured: 1_000, refunded: 0, status: "succeeded" } as const

export const store = testAppLayer({
  payments: {
    adapters: [
      provider.adapter,
      { ...silent, conceal: (token) => `ok_concealed_${token}`, authorize: voidedAtOnce },
      { ...vouchers.adapter, isStoredValue: true }
    ]
  }
}).pipe(Layer.provide(dying))

/** The provider hears this call for the instrument only after the test has opened what it gets. */
export const gate = Effect.fnUntraced(function*(token: string, operation: PaymentOperation) {
  const opened = yield* Deferred.make<void>()
  provider.obstruct(token, (one) => one === operation ? Deferred.await(opened) : Effect.void)
  return { open: Deferred.succeed(opened, undefined) }
})

/** Pays by an instrument whose provider is slow. Gives what ends the wait and has the answer. */
export const paySlowly = Effect.fnUntraced(function*(order: OpenOrder, token: string) {
  const { open } = yield* gate(token, "authorize")
  const answer = yield* Effect.forkChild(pay(order, token))
  yield* eventually("the claim", Effect.map(read(order), (one) => one.at("data.payment.status") === "processing"))
  return { finish: Effect.andThen(open, Fiber.join(answer)) }
})
