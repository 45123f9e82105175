import { Cause, Context, Duration, Effect, Fiber, FiberSet, Layer, Option, Schedule, Schema, Tracer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { createHash } from "node:crypto"
import { Carts } from "../../domain/carts/Carts.ts"
import { type CheckoutRequest, giftCardMethod, type TenderRequest } from "../../domain/checkout/Checkout.ts"
import { type AbandonedRun, CheckoutRunRepo, type RunToken } from "../../domain/checkout/CheckoutRunRepo.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { ProcessNumber } from "../../domain/platform/database/ProcessNumber.ts"
import { StillRunning, Unavailable } from "../../domain/platform/errors/ApiErrors.ts"
import { conflict } from "../../domain/platform/errors/ErrorKinds.ts"
import { IdempotencyKeys } from "../../domain/platform/idempotency/IdempotencyKeys.ts"
import { newId, OrderId } from "../../domain/platform/ids/Id.ts"
import { runCheckout } from "./Checkout.ts"
import { voidLost } from "./CheckoutPayment.ts"
import {
  type CheckoutError,
  type CheckoutPayload,
  CheckoutResult,
  CheckoutWorkflow,
  decodePayload
} from "./CheckoutWorkflow.ts"

/** A client's idempotency key and the scope (client and route) that it is unique in. */
export interface CheckoutKey {
  readonly key: string
  readonly scope: string
}

/** Separates checkout keys from those of other routes: the stored response of a checkout is its result. */
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

const resultJson = Schema.fromJsonString(Schema.toCodecJson(CheckoutResult))
const encodeResult = Schema.encodeSync(resultJson)
const decodeResult = Schema.decodeSync(resultJson)

const stillRunning = Unavailable.of("The checkout is still running. Ask again with the same Idempotency-Key.")

/** Services that a run of a checkout uses. */
type CheckoutServices = Effect.Services<ReturnType<typeof runCheckout>>

/** Runs checkouts in this process, and by the workflow engine what this process cannot end. */
const makeRunning = Effect.gen(function*() {
  const engine = yield* WorkflowEngine.WorkflowEngine
  const processes = yield* ProcessNumber
  const runs = yield* CheckoutRunRepo
  const running = new Set<OrderId>()
  // A checkout goes on without its request, and outside of a transaction of its caller.
  const fork = yield* FiberSet.makeRuntime<CheckoutServices>()

  /** Leaves a checkout to the workflow engine, in any process that runs it. */
  const leave = (payload: CheckoutPayload) =>
    Effect.provideService(CheckoutWorkflow.execute(payload, { discard: true }), WorkflowEngine.WorkflowEngine, engine)

  const hasEnded = Effect.fnUntraced(function*(payload: CheckoutPayload) {
    const state = yield* CheckoutWorkflow.poll(yield* CheckoutWorkflow.executionId(payload))
    return Option.isSome(state) && state.value._tag === "Complete"
  }, Effect.provideService(WorkflowEngine.WorkflowEngine, engine))

  /** The outcome of a checkout that the workflow engine runs or ran. */
  const byEngine = (payload: CheckoutPayload) =>
    CheckoutWorkflow.execute(payload).pipe(
      Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
      Effect.sandbox,
      // The database may be away, as it is for the run that failed.
      Effect.retry({ while: Cause.hasDies, schedule: Schedule.spaced("1 second") }),
      Effect.catch(Effect.failCause)
    )

  const run = Effect.fnUntraced(function*(payload: CheckoutPayload) {
    const process = yield* processes.current
    running.add(payload.checkoutId)
    return yield* Effect.ensuring(
      runCheckout({ ...payload, owner: newId<RunToken>(), process }),
      Effect.sync(() => running.delete(payload.checkoutId))
    )
  })

  const runHere = (payload: CheckoutPayload) =>
    run(payload).pipe(
      Effect.catchTag("RunLost", () => Effect.tapError(byEngine(payload), () => voidLost(payload))),
      Effect.catchTag("ProcessStopping", () => Effect.andThen(leave(payload), Effect.fail(stillRunning))),
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logWarning(`checkout ${payload.checkoutId} failed in the middle and is repeated`, defect),
          byEngine(payload)
        )
      )
    )

  /** Runs a checkout beside its request, which waits for it as long as the time-out; `ended` follows its end. */
  const execute = Effect.fnUntraced(function*(
    payload: CheckoutPayload,
    ended: (checkout: ReturnType<typeof runHere>) => ReturnType<typeof runHere>
  ) {
    const span = yield* Effect.serviceOption(Tracer.ParentSpan)
    const checkout = ended(runHere(payload))
    const fiber = fork(Option.isNone(span) ? checkout : Effect.withParentSpan(checkout, span.value))
    return yield* Effect.timeoutOrElse(Fiber.join(fiber), {
      duration: timeout,
      orElse: () => Effect.fail(stillRunning)
    })
  })

  const follow = Effect.fnUntraced(function*({ owner, payload: stored }: AbandonedRun) {
    const payload = decodePayload(stored)
    const end = runs.end({ checkoutId: payload.checkoutId, owner })
    // Version 0.2.0 knows no runs: its engine may have ended the checkout and left the row.
    const isOver = yield* hasEnded(payload)
    yield* isOver ? Effect.provideService(end, CurrentActor, payload.actor) : leave(payload)
  })

  /** Leaves checkouts that nothing runs any more to the workflow engine. Returns how many it looked at. */
  const takeOver = Effect.gen(function*() {
    const abandoned = yield* runs.abandoned(yield* processes.current, [...running])
    // One that cannot be read, or whose shard is still at the frozen process, must not hold up the others.
    yield* Effect.forEach(
      abandoned,
      (one) => Effect.catchCause(follow(one), (cause) => Effect.logError("a checkout cannot be taken over", cause)),
      { concurrency: 20, discard: true }
    )
    return abandoned.length
  }).pipe(Effect.withSpan("Checkouts.takeOver"))

  return { byEngine, execute, hasEnded, takeOver }
})

/** Adds the checkout's own record of keys: a repeat with the key gets the result of the first request. */
const keepingResults = Effect.map(
  IdempotencyKeys,
  (keys) =>
  (key: CheckoutKey | null, { actor, checkoutId }: CheckoutPayload) =>
  <E extends CheckoutError | StillRunning, R>(checkout: Effect.Effect<CheckoutResult, E, R>) => {
    if (key === null) return checkout
    const scope = scopeOf(key.scope)
    return checkout.pipe(
      Effect.tap((result) => keys.finish(scope, key.key, checkoutId, 201, encodeResult(result))),
      // A failed checkout left nothing behind.
      Effect.tapError((error) =>
        error._tag === "StillRunning" || error._tag === "Unavailable"
          ? Effect.void
          : keys.release(scope, key.key, checkoutId)
      ),
      Effect.provideService(CurrentActor, actor)
    )
  }
)

/**
 * Runs checkouts (contract §3). The process that receives a checkout runs it. A run that this process cannot end is
 * left to the workflow engine (`CheckoutWorkflow`), which finds by the checkout's id what was done.
 */
export class Checkouts extends Context.Service<Checkouts>()("stoa/workflows/checkout/Checkouts", {
  make: Effect.gen(function*() {
    const carts = yield* Carts
    const keys = yield* IdempotencyKeys
    const adapters = yield* PaymentAdapters
    const runs = yield* CheckoutRunRepo
    const { byEngine, execute, hasEnded, takeOver } = yield* makeRunning
    const keeping = yield* keepingResults

    /** The result of an earlier request with this key, whose process may have died at any moment. */
    const outcomeOf = Effect.fnUntraced(function*(payload: CheckoutPayload, key: CheckoutKey) {
      if (yield* runs.isOpen(payload.checkoutId)) return yield* StillRunning.of()
      const kept = keeping(key, payload)
      return yield* (yield* hasEnded(payload)) ? kept(byEngine(payload)) : execute(payload, kept)
    })

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

    /**
     * Checks out a cart. With a key, the same request gives the same order, another request fails with 409, and a
     * running one with 409 and `Retry-After` (contract §3.8). The key decides the checkout id.
     */
    const start = Effect.fn("Checkouts.start")(
      function*(request: CheckoutRequest, requestHash: string, key: CheckoutKey | null) {
        const claim = key === null ? undefined : yield* keys.claim(scopeOf(key.scope), key.key, requestHash, true)
        if (claim?._tag === "Done") return decodeResult(claim.body)
        if (claim !== undefined && claim._tag !== "Claimed" && claim._tag !== "Running") return yield* new KeyUsed()
        const checkoutId = claim === undefined ? newId<OrderId>() : OrderId.make(claim.executionId)
        const payload = yield* payloadOf(checkoutId, request, requestHash, key)
        return yield* key !== null && claim?._tag === "Running"
          ? outcomeOf(payload, key)
          : execute(payload, keeping(key, payload))
      }
    )

    /** Checks out once for a key of a plugin, for example the id of its row; the same call again gives the same order. */
    const startOnce = (request: CheckoutRequest, key: string) =>
      start(request, createHash("sha256").update(JSON.stringify(request)).digest("hex"), { key, scope: "plugin" })

    return { start, startOnce, takeOver }
  })
}) {
  static readonly layer = Layer.effect(Checkouts, Checkouts.make)
}
