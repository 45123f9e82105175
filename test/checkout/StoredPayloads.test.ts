import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { decodePricedCart } from "../../src/domain/checkout/PricedCart.ts"
import { WorkerLoop } from "../../src/layers/jobs/WorkerLoop.ts"
import { CaptureOrder, LateCapture } from "../../src/workflows/checkout/Captures.ts"
import { CheckoutWorkflow } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { PayOrder } from "../../src/workflows/checkout/PayOrder.ts"
import { SettleRefund } from "../../src/workflows/payments/SettleRefund.ts"
import { VoidPayment } from "../../src/workflows/payments/VoidPayment.ts"
import { at } from "../support/TestApp.ts"

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

const lateCapture = `{"orderId":"${id}","organizationId":"org_default"}`
const capture = `{"orderId":"${id}","amount":700,"refusals":0,"actor":{"type":"user","userId":"u","email":null,
  "name":"Staff","vendorId":null,"organizationId":"org_default","role":"staff","permissions":["orders:update"],
  "cartSecret":null,"requestId":"r-1"}}`
const payment =
  `{"orderId":"${id}","paymentId":"${id}","provider":"test","methodId":"test","token":null,"actor":{"type":"user",
  "userId":"u","email":null,"name":"Staff","vendorId":null,"organizationId":"org_default","role":"staff",
  "permissions":["orders:update"],"cartSecret":null,"requestId":"r-1"}}`
const voiding = `{"providerId":"test","request":{"amount":100,"currency":"USD","orderId":"${id}","customerId":null,
  "paymentMethodToken":null,"metadata":{},"idempotencyKey":"${id}"},"intentId":null}`

const order = `{"id":"${id}","organizationId":"org_default","orderNumber":"ORD-2026-000001","customerId":null,
  "status":"pending","currency":"USD","subtotal":1000,"taxTotal":0,"shippingTotal":0,"discountTotal":0,
  "grandTotal":1000,"amountCaptured":1000,"refundedTotal":0,"paymentIntentId":"pi_1","paymentMethodId":"test",
  "idempotencyKey":null,"shippingAddress":null,"metadata":{},"placedAt":"2026-11-20T23:33:21.577Z",
  "updatedAt":"2026-11-20T23:33:21.577Z","fulfilledAt":null,"cancelledAt":null,"lineItems":[{"id":"${id}",
  "orderId":"${id}","entityId":"${id}","entityType":"product","variantId":null,"sku":null,"title":"Thing","quantity":1,
  "unitPrice":1000,"totalPrice":1000,"isCustomPrice":false,"taxAmount":0,"discountAmount":0,"refundedQuantity":0,
  "fulfillmentStatus":"unfulfilled","metadata":{}}]}`
const result = `{"order":${order},"clientSecret":null,"hookErrors":[],"rejectedCodes":[]}`
const pricedCart = `{"currency":"USD","customerId":null,"cartSecretHash":"5f","lines":[{"id":"${id}","entityId":"${id}",
  "entityType":"product","variantId":null,"sku":null,"title":"Thing","quantity":1,"unitPrice":1000,"totalPrice":1000,
  "discountAmount":0,"taxAmount":0}],"promotions":[{"promotionId":"${id}","code":"SAVE","type":"free_shipping",
  "discountAmount":0,"freeShipping":true,"description":"Save","perCustomer":null}],"rejectedCodes":[],"subtotal":1000,
  "discountTotal":0,"taxTotal":0,"shippingTotal":0,"grandTotal":1000,"metadata":{}}`

const read = <A>(schema: Schema.Codec<A, unknown>, text: string) =>
  Schema.decodeUnknownEffect(Schema.toCodecJson(schema))(JSON.parse(text))

/** Names of the durable processes in the code. */
const workflows = () =>
  readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => [...readFileSync(join("src", path), "utf8").matchAll(/Workflow\.make\("(\w+)"/g)])
    .map(([, name]) => name)

describe("a payload that version 1 stored", () => {
  it("is kept here for every durable process there is", () =>
    assert.sameMembers(workflows(), [
      CaptureOrder._tag,
      CheckoutWorkflow._tag,
      WorkerLoop._tag,
      LateCapture._tag,
      PayOrder._tag,
      SettleRefund._tag,
      VoidPayment._tag
    ]))

  const stored: ReadonlyArray<
    readonly [what: string, schema: Schema.Codec<unknown, unknown>, text: string, path: string, value: unknown]
  > = [
    ["a checkout", CheckoutWorkflow.payloadSchema, checkout, "request.cartId", id],
    ["a finished checkout", CheckoutWorkflow.successSchema, result, "order.lineItems.0.totalPrice", 1000],
    ["a refund", SettleRefund.payloadSchema, refund, "refundId", id],
    ["a late capture", LateCapture.payloadSchema, lateCapture, "orderId", id],
    ["another payment", PayOrder.payloadSchema, payment, "paymentId", id],
    ["a capture by staff", CaptureOrder.payloadSchema, capture, "amount", 700],
    ["a worker loop", WorkerLoop.payloadSchema, `{"queue":"default","slot":0,"sequence":7}`, "sequence", 7],
    ["a payment to void", VoidPayment.payloadSchema, voiding, "request.amount", 100]
  ]
  for (const [what, schema, text, path, value] of stored) {
    it.effect(`of ${what} is still read`, () =>
      Effect.map(read(schema, text), (payload) => assert.strictEqual(at(payload, path), value)))
  }

  it.effect("of a priced cart is still read", () =>
    Effect.map(decodePricedCart(pricedCart), ({ promotions }) => assert.strictEqual(promotions[0]?.promotionId, id)))
})
