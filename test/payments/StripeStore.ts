import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { StripeOptions } from "../../src/layers/config/PaymentConfig.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { chargeOf, signStripe, startStripe, type StripeEmulator, stripeEvent } from "../support/StripeEmulator.ts"
import type { StripeIntent } from "../support/StripeLedger.ts"
import { api, asAdmin, testAppLayer } from "../support/TestApp.ts"

/** The account's key and the secret of its events; the emulator refuses any other key. */
export const stripeKey = "sk_test_emulated"
export const stripeSecret = "whsec_emulated"

/** The Stripe that the service of a file talks to. */
export class Stripe extends Context.Service<Stripe, StripeEmulator>()("stoa/test/payments/Stripe") {}

/** The whole service with one Stripe account as its default provider, over the wire to the emulator. */
export const stripeStore = (options: StripeOptions = {}) =>
  Layer.unwrap(Effect.map(startStripe(stripeKey), (stripe) =>
    Layer.merge(
      testAppLayer({
        payments: {
          stripe: {
            secretKey: stripeKey,
            webhookSecret: stripeSecret,
            apiUrl: stripe.url,
            timeoutMs: 10_000,
            ...options
          }
        }
      }),
      Layer.succeed(Stripe, stripe)
    )))

/** A guest's checkout of one unit, paid with this instrument. */
export const buying = Effect.fnUntraced(
  function*(token: string | null, body: object = {}, product: Parameters<typeof aProduct>[0] = {}) {
    const entityId = yield* aProduct(product)
    const cart = yield* aCartWith(entityId)
    const paid = token === null ? {} : { paymentMethodToken: token }
    const made = yield* checkOut(cart, { paymentMethodId: "stripe", ...paid, ...body })
    return { entityId, cart, made }
  }
)

/** The same where the order is placed: its id and its payment at the emulator. */
export const bought = Effect.fnUntraced(function*(token: string | null) {
  const { cart, entityId, made } = yield* buying(token)
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  const order = made.text("data.id")
  return { cart, entityId, made, order, intent: (yield* Stripe).paymentOf(order) }
})

/** Sends a body as Stripe signs it. */
export const deliver = (body: string, secret = stripeSecret, at?: number) =>
  api("POST", "/api/payments/webhook", { body, headers: { "stripe-signature": signStripe(secret, body, at) } })

/** Reports something about a payment. */
export const report = (type: string, intent: StripeIntent, id?: string) =>
  deliver(stripeEvent(`payment_intent.${type}`, intent, id))

/** Reports that so much of a payment has been given back in all. */
export const reportRefunded = (intent: StripeIntent, refunded: number) =>
  deliver(stripeEvent("charge.refunded", chargeOf(intent, refunded)))

export const readOrder = (order: string) => api("GET", `/api/orders/${order}`, { as: asAdmin })

export const moveTo = (order: string, status: string) =>
  api("PATCH", `/api/orders/${order}/status`, { as: asAdmin, body: { status } })

/** Waits until an order has this value at a path below `data`. */
export const until = (order: string, path: string, value: unknown) =>
  eventually(
    `${path} of the order to be ${String(value)}`,
    Effect.map(readOrder(order), (answer) => answer.at(`data.${path}`) === value)
  )
