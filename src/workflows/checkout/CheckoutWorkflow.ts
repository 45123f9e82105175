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
 * Input of a checkout. It lies on disk until the checkout has ended and may be read by a newer process: additions are
 * optional with a default. `checkoutId` becomes the id of the order and is the key of every step.
 */
export const CheckoutPayload = Schema.Struct({
  checkoutId: Uuid,
  actor: Actor,
  /** Profile of a signed-in shopper and hash of the cart secret the request showed. */
  customerId: Schema.NullOr(Uuid),
  secretHash: Schema.NullOr(Schema.String),
  request: Schema.toType(CheckoutRequest),
  /** SHA-256 of the request, to tell a repeat from another request under the same key. */
  requestHash: Schema.String,
  idempotencyKey: Schema.NullOr(Schema.String)
})
export type CheckoutPayload = typeof CheckoutPayload.Type

/** What a checkout that succeeded answers with. */
export const CheckoutResult = Schema.Struct({
  /** The order as it is after the checkout; its id is the checkout id. */
  order: Order,
  clientSecret: Schema.NullOr(Schema.String),
  hookErrors: Schema.Array(Schema.Struct({ hookName: Schema.String, message: Schema.String })),
  rejectedCodes: Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String }))
})
/** See the schema of the same name. */
export type CheckoutResult = typeof CheckoutResult.Type

/** Why a checkout ended without an order. */
export const CheckoutError = Schema.Union([
  NotFound,
  Forbidden,
  ValidationFailed,
  Conflict,
  CheckoutFailed,
  Unavailable
])
/** See the schema of the same name. */
export type CheckoutError = typeof CheckoutError.Type

/**
 * The durable checkout (ARCHITECTURE §3), one execution per checkout id. A step that dies, because the process or the
 * database did, is not an outcome: the execution runs again from the start and every step finds by its key what the
 * earlier run did. Only a typed failure ends it, after its compensations. Hence defects are not captured as results.
 */
export const CheckoutWorkflow = Workflow.make("Checkout", {
  payload: CheckoutPayload,
  success: CheckoutResult,
  error: CheckoutError,
  idempotencyKey: ({ checkoutId }) => checkoutId,
  annotations: Context.make(Workflow.CaptureDefects, false)
})
