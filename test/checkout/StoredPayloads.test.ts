import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { CheckoutWorkflow } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { SettleRefund } from "../../src/workflows/payments/SettleRefund.ts"
import { VoidPayment } from "../../src/workflows/payments/VoidPayment.ts"

const id = "0192f0c1-7b1a-7cc0-8a52-0f6a3a3f1e11"

/**
 * What version 1 wrote, kept here by hand. A running execution is read again by the next version, so a payload only
 * gains optional fields (ARCHITECTURE invariant 8): never change these texts, add new ones.
 */
const checkout =
  `{"checkoutId":"${id}","actor":{"type":"user","userId":null,"email":null,"name":"Guest","vendorId":null,
  "organizationId":"org_default","role":"customer","permissions":["orders:create"],"cartSecret":null,"requestId":"r-1"},
  "customerId":null,"secretHash":"5f","request":{"cartId":"${id}","paymentMethodId":"test","currency":"USD"},
  "requestHash":"ab","idempotencyKey":null}`
const refund = `{"refundId":"${id}","organizationId":"org_default"}`
const voiding = `{"providerId":"test","request":{"amount":100,"currency":"USD","orderId":"${id}","customerId":null,
  "paymentMethodToken":null,"metadata":{},"idempotencyKey":"${id}"},"intentId":null}`

const read = <S extends Schema.Top>(schema: S, text: string) =>
  Schema.decodeUnknownEffect(Schema.toCodecJson(schema))(JSON.parse(text))

describe("a payload that version 1 stored", () => {
  it.effect("of a checkout is still read", () =>
    Effect.map(read(CheckoutWorkflow.payloadSchema, checkout), ({ request }) => assert.strictEqual(request.cartId, id)))

  it.effect("of a refund is still read", () =>
    Effect.map(read(SettleRefund.payloadSchema, refund), ({ refundId }) => assert.strictEqual(refundId, id)))

  it.effect("of a payment to undo is still read", () =>
    Effect.map(read(VoidPayment.payloadSchema, voiding), ({ request }) => assert.strictEqual(request.amount, 100)))
})
