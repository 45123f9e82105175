import { Context, Effect, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import type { RunOwner } from "../../domain/checkout/CheckoutRunRepo.ts"
import { Order } from "../../domain/orders/Order.ts"
import { Actor } from "../../domain/platform/access/Actor.ts"
import {
  CheckoutFailed,
  Conflict,
  Forbidden,
  NotFound,
  Unavailable,
  ValidationFailed
} from "../../domain/platform/errors/ApiErrors.ts"
import type { InTables } from "../../domain/platform/hooks/EntityTables.ts"
import { CustomerId, OrderId } from "../../domain/platform/ids/Id.ts"

/** The boundaries between the steps of a checkout, where crash tests kill the process. */
export const faultPoints = ["claimed", "reserved", "authorized", "created", "captured", "settled"] as const

/** The boundaries after one of several payments. */
export const tenderFaultPoints = ["tender-authorized", "tender-captured"] as const

/** The boundaries of a failed checkout: after a compensation, and after all of them. */
export const undoFaultPoints = ["undone", "failed"] as const

export type FaultPoint =
  | typeof faultPoints[number]
  | typeof tenderFaultPoints[number]
  | typeof undoFaultPoints[number]

/** Runs at each boundary; only crash tests provide it. */
export const AtFaultPoint = Context.Reference<(point: FaultPoint) => Effect.Effect<void>>(
  "stoa/workflows/checkout/AtFaultPoint",
  { defaultValue: () => () => Effect.void }
)

/** Marks a boundary between two steps. */
export const passing = (point: FaultPoint): Effect.Effect<void> => Effect.flatMap(AtFaultPoint, (at) => at(point))

/**
 * Input of a checkout. It is stored until the checkout ends and may be read by a newer process: additions are optional
 * with a default. `checkoutId` becomes the order's id and is the key of every step.
 */
export const CheckoutPayload = Schema.Struct({
  checkoutId: OrderId,
  actor: Actor,
  /** Profile of a signed-in shopper, and hash of the cart secret in the request. */
  customerId: Schema.NullOr(CustomerId),
  secretHash: Schema.NullOr(Schema.String),
  request: Schema.toType(CheckoutRequest),
  /** SHA-256 of the request: distinguishes a repeat from another request with the same key. */
  requestHash: Schema.String,
  idempotencyKey: Schema.NullOr(Schema.String)
})
export type CheckoutPayload = typeof CheckoutPayload.Type

/** A run of a checkout: in the process that received it, or by the workflow engine, which takes over. */
export interface CheckoutRun extends CheckoutPayload, RunOwner {
  /** The number of the process that received it; null for the engine. */
  readonly process: number | null
  /** Of the cart's lines, as its claim read it; never stored. */
  readonly inTables?: InTables
}

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
 * The durable checkout (ARCHITECTURE §3) as the workflow engine runs it, for processes that died, froze or failed in the
 * middle of one (`Checkouts`). A defect of the process or database runs the execution again from the start, and each
 * step finds by its key what an earlier run did. Only a typed failure ends it, after its compensations.
 */
export const CheckoutWorkflow = Workflow.make("Checkout", {
  payload: CheckoutPayload,
  success: CheckoutResult,
  error: CheckoutError,
  idempotencyKey: ({ checkoutId }) => checkoutId,
  annotations: Context.make(Workflow.CaptureDefects, false)
})

const payloadJson = Schema.fromJsonString(Schema.toCodecJson(CheckoutPayload))

/** The payload as it is stored with the run. */
export const encodePayload = (payload: CheckoutPayload): string => Schema.encodeSync(payloadJson)(payload)

/** Reads a stored payload. */
export const decodePayload = Schema.decodeSync(payloadJson)
