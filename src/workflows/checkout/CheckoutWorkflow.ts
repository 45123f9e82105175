import { Context, Effect, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { PriceChanged } from "../../domain/checkout/CartTotals.ts"
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

export const tenderFaultPoints = ["tender-authorized", "tender-captured"] as const

export const undoFaultPoints = ["undone", "failed"] as const

export type FaultPoint =
  | typeof faultPoints[number]
  | typeof tenderFaultPoints[number]
  | typeof undoFaultPoints[number]

export const AtFaultPoint = Context.Reference<(point: FaultPoint) => Effect.Effect<void>>(
  "stoa/workflows/checkout/AtFaultPoint",
  { defaultValue: () => () => Effect.void }
)

export const passing = (point: FaultPoint): Effect.Effect<void> => Effect.flatMap(AtFaultPoint, (at) => at(point))

/**
 * Stored until the checkout ends and read by newer processes: additions are optional with a default. `checkoutId`
 * becomes the order's id and is the key of every step.
 */
export const CheckoutPayload = Schema.Struct({
  checkoutId: OrderId,
  actor: Actor,
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
  readonly process: number | null
  /** Never stored. */
  readonly inTables?: InTables
}

export const CheckoutResult = Schema.Struct({
  order: Order,
  clientSecret: Schema.NullOr(Schema.String),
  redirectUrl: Schema.optional(Schema.NullOr(Schema.String)),
  hookErrors: Schema.Array(Schema.Struct({ hookName: Schema.String, message: Schema.String })),
  rejectedCodes: Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String }))
})
export type CheckoutResult = typeof CheckoutResult.Type

export const CheckoutError = Schema.Union([
  NotFound,
  Forbidden,
  ValidationFailed,
  Conflict,
  CheckoutFailed,
  PriceChanged,
  Unavailable
])
export type CheckoutError = typeof CheckoutError.Type

/**
 * The durable checkout (ARCHITECTURE §3) as the workflow engine runs it, for processes that died, froze or failed. A
 * defect runs the execution again from the start, and each step finds by its key what an earlier run did. Only a typed
 * failure ends it, after its compensations.
 */
export const CheckoutWorkflow = Workflow.make("Checkout", {
  payload: CheckoutPayload,
  success: CheckoutResult,
  error: CheckoutError,
  idempotencyKey: ({ checkoutId }) => checkoutId,
  annotations: Context.make(Workflow.CaptureDefects, false)
})

const payloadJson = Schema.fromJsonString(Schema.toCodecJson(CheckoutPayload))

export const encodePayload = (payload: CheckoutPayload): string => Schema.encodeSync(payloadJson)(payload)

export const decodePayload = Schema.decodeSync(payloadJson)
