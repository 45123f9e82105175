import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { createHash } from "node:crypto"
import { Actor, CurrentActor } from "../../domain/access/Actor.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import { CheckoutRequest, giftCardMethod, type TenderRequest } from "../../domain/checkout/Checkout.ts"
import {
  CheckoutFailed,
  Conflict,
  Forbidden,
  NotFound,
  StillRunning,
  Unavailable,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"
import { conflict } from "../../domain/errors/ErrorKinds.ts"
import { IdempotencyKeys } from "../../domain/idempotency/IdempotencyKeys.ts"
import { CustomerId, newId, OrderId } from "../../domain/ids/Id.ts"
import { Order } from "../../domain/orders/Order.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"

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

/** A client's idempotency key and the scope (client and route) that it is unique in. */
export interface CheckoutKey {
  readonly key: string
  readonly scope: string
}

/** Separates checkout keys from those of other routes: a checkout stores its result itself. */
const scopeOf = (scope: string): string => `checkout:${scope}`

/** How long a request waits. The checkout continues without it, and the same key gives its result later. */
const timeout = Duration.seconds(30)

class KeyUsed extends conflict("IdempotencyKey", "This Idempotency-Key was used for another checkout.") {}

/**
 * A request with all its payments but the last in `tenders`, gift cards first. Tokens that must not be stored are
 * replaced, because the checkout is stored until it ends.
 */
const withConcealedTenders = (
  adapters: PaymentAdapters["Service"],
  { giftCardCode, giftCardCodes = [], ...request }: CheckoutRequest
): CheckoutRequest => {
  const codes = giftCardCode === undefined ? giftCardCodes : [...giftCardCodes, giftCardCode]
  const conceal = (method: string, token: string) => adapters.named(method)?.adapter.conceal?.(token) ?? token
  const tenders = [...codes.map((token) => ({ method: giftCardMethod, token })), ...(request.tenders ?? [])].map(
    (tender): TenderRequest =>
      tender.token === undefined ? tender : { ...tender, token: conceal(tender.method, tender.token) }
  )
  const { paymentMethodToken: token } = request
  return {
    ...request,
    ...(tenders.length === 0 ? {} : { tenders }),
    ...(token === undefined ? {} : { paymentMethodToken: conceal(request.paymentMethodId, token) })
  }
}

/** Starts durable checkouts and waits for their outcome (contract §3). */
export class Checkouts extends Context.Service<Checkouts>()("stoa/workflows/checkout/Checkouts", {
  make: Effect.gen(function*() {
    const engine = yield* WorkflowEngine.WorkflowEngine
    const carts = yield* Carts
    const keys = yield* IdempotencyKeys
    const adapters = yield* PaymentAdapters

    const execute = (payload: CheckoutPayload) =>
      CheckoutWorkflow.execute(payload).pipe(
        Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
        Effect.timeoutOrElse({
          duration: timeout,
          orElse: () =>
            Effect.fail(Unavailable.of("The checkout is still running. Ask again with the same Idempotency-Key."))
        })
      )

    /**
     * The result of an earlier request with this key. Starts its checkout again, which changes nothing if it runs: the
     * earlier process may have died after it claimed the key and before it stored the checkout.
     */
    const outcomeOf = Effect.fnUntraced(function*(payload: CheckoutPayload) {
      const executionId = yield* CheckoutWorkflow.executionId(payload)
      const state = yield* CheckoutWorkflow.poll(executionId)
      if (Option.isSome(state) && state.value._tag === "Complete") return yield* execute(payload)
      yield* CheckoutWorkflow.execute(payload, { discard: true })
      return yield* StillRunning.of()
    }, Effect.provideService(WorkflowEngine.WorkflowEngine, engine))

    const payloadOf = Effect.fnUntraced(
      function*(checkoutId: OrderId, request: CheckoutRequest, requestHash: string, key: CheckoutKey | null) {
        const actor = yield* CurrentActor
        const { customerId, secretHash } = yield* carts.visitor
        const payload: CheckoutPayload = {
          checkoutId,
          actor: { ...actor, cartSecret: null },
          customerId,
          secretHash,
          request: withConcealedTenders(adapters, request),
          requestHash,
          idempotencyKey: key?.key ?? null
        }
        return payload
      }
    )

    /** Releases the key of a failed checkout, which left nothing behind; a running one keeps it. */
    const releasing = <R>(
      { key, scope }: CheckoutKey,
      checkoutId: string,
      checkout: Effect.Effect<CheckoutResult, CheckoutError | StillRunning, R>
    ) =>
      Effect.tapError(checkout, (error) =>
        error._tag === "StillRunning" || error._tag === "Unavailable"
          ? Effect.void
          : keys.release(scopeOf(scope), key, checkoutId))

    /**
     * Checks out a cart. With a key, the same request gives the same order, another request fails with 409, and a
     * running one with 409 and `Retry-After` (contract §3.8). The key decides the checkout id.
     */
    const start = Effect.fn("Checkouts.start")(
      function*(request: CheckoutRequest, requestHash: string, key: CheckoutKey | null) {
        if (key === null) return yield* execute(yield* payloadOf(newId(), request, requestHash, key))
        const claim = yield* keys.claim(scopeOf(key.scope), key.key, requestHash, true)
        if (claim._tag !== "Claimed" && claim._tag !== "Running") {
          return yield* new KeyUsed()
        }
        const payload = yield* payloadOf(OrderId.make(claim.executionId), request, requestHash, key)
        return yield* releasing(
          key,
          claim.executionId,
          claim._tag === "Claimed" ? execute(payload) : outcomeOf(payload)
        )
      }
    )

    /** Checks out once for a key of a plugin, for example the id of its row; the same call again gives the same order. */
    const startOnce = (request: CheckoutRequest, key: string) =>
      start(request, createHash("sha256").update(JSON.stringify(request)).digest("hex"), { key, scope: "plugin" })

    return { start, startOnce }
  })
}) {
  static readonly layer = Layer.effect(Checkouts, Checkouts.make)
}
