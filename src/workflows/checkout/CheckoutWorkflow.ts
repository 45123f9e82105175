import { Context, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { Actor } from "../../domain/access/Actor.ts"
import { CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import {
  CheckoutFailed,
  Conflict,
  Forbidden,
  NotFound,
  Unavailable,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Order } from "../../domain/orders/Order.ts"

/**
 * Input of a checkout. It is stored until the checkout ends and may be read by a newer process: additions are optional
 * with a default. `checkoutId` becomes the order's id and is the key of every step.
 */
export const CheckoutPayload = Schema.Struct({
  checkoutId: Uuid,
  actor: Actor,
  /** Profile of a signed-in shopper, and hash of the cart secret in the request. */
  customerId: Schema.NullOr(Uuid),
  secretHash: Schema.NullOr(Schema.String),
  request: Schema.toType(CheckoutRequest),
  /** SHA-256 of the request: distinguishes a repeat from another request with the same key. */
  requestHash: Schema.String,
  idempotencyKey: Schema.NullOr(Schema.String)
})
export type CheckoutPayload = typeof CheckoutPayload.Type

/** Result of a successful checkout; the order's id is the checkout id. */
export const CheckoutResult = Schema.Struct({
  order: Order,
  clientSecret: Schema.NullOr(Schema.String),
  hookErrors: Schema.Array(Schema.Struct({ hookName: Schema.String, message: Schema.String })),
  rejectedCodes: Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String }))
})
export type CheckoutResult = typeof CheckoutResult.Type

/** Reasons why a checkout ended without an order. */
export const CheckoutError = Schema.Union([
  NotFound,
  Forbidden,
  ValidationFailed,
  Conflict,
  CheckoutFailed,
  Unavailable
])
export type CheckoutError = typeof CheckoutError.Type

/**
 * The durable checkout (ARCHITECTURE §3), one execution per checkout id. A defect of the process or database runs the
 * execution again from the start, and each step finds by its key what an earlier run did. Only a typed failure ends it,
 * after its compensations.
 */
export const CheckoutWorkflow = Workflow.make("Checkout", {
  payload: CheckoutPayload,
  success: CheckoutResult,
  error: CheckoutError,
  idempotencyKey: ({ checkoutId }) => checkoutId,
  annotations: Context.make(Workflow.CaptureDefects, false)
})
