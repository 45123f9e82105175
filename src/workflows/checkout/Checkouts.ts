import { Context, Duration, Effect, Fiber, FiberSet, Layer, Option, Schema, Tracer } from "effect"
import { createHash } from "node:crypto"
import { Carts } from "../../domain/carts/Carts.ts"
import { type CheckoutRequest, giftCardMethod, type TenderRequest } from "../../domain/checkout/Checkout.ts"
import { CheckoutRunRepo, type RunToken } from "../../domain/checkout/CheckoutRunRepo.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { ProcessNumber } from "../../domain/platform/database/ProcessNumber.ts"
import { StillRunning, Unavailable } from "../../domain/platform/errors/ApiErrors.ts"
import { conflict } from "../../domain/platform/errors/ErrorKinds.ts"
import { IdempotencyKeys } from "../../domain/platform/idempotency/IdempotencyKeys.ts"
import { newId, OrderId } from "../../domain/platform/ids/Id.ts"
import { type CheckoutServices, makeEngineRuns, releasingStuck, takingOver } from "./AbandonedCheckouts.ts"
import { runCheckout } from "./Checkout.ts"
import { voidLost } from "./CheckoutPayment.ts"
import { type CheckoutError, type CheckoutPayload, CheckoutResult } from "./CheckoutWorkflow.ts"

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

/** Runs checkouts in this process, and by the workflow engine what this process cannot end. */
const makeRunning = Effect.gen(function*() {
  const engine = yield* makeEngineRuns
  const { byEngine, ending, leave } = engine
  const processes = yield* ProcessNumber
  // By run: a repeat may run a checkout for a moment beside its first run.
  const running = new Map<RunToken, OrderId>()
  // A checkout goes on without its request, and outside of a transaction of its caller.
  const fork = yield* FiberSet.makeRuntime<CheckoutServices>()

  const run = Effect.fnUntraced(function*(payload: CheckoutPayload) {
    const process = yield* processes.current
    const owner = newId<RunToken>()
    running.set(owner, payload.checkoutId)
    return yield* Effect.ensuring(
      runCheckout({ ...payload, owner, process }),
      Effect.sync(() => running.delete(owner))
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

  return { byEngine, ending, execute, ...yield* takingOver(engine, running) }
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
    const { byEngine, ending, execute, takeOver } = yield* makeRunning
    const keeping = yield* keepingResults

    /**
     * The result of an earlier request with this key, whose process may have died at any moment. Its lease says nothing
     * about its run: that is open until its last change.
     */
    const outcomeOf = Effect.fnUntraced(function*(payload: CheckoutPayload, key: CheckoutKey) {
      if (yield* runs.isOpen(payload.checkoutId)) return yield* StillRunning.of()
      const kept = keeping(key, payload)
      return yield* (yield* ending(payload)) === undefined ? execute(payload, kept) : kept(byEngine(payload))
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
        const isRepeat = claim !== undefined && (claim._tag === "Running" || claim.isRepeat)
        return yield* key !== null && isRepeat
          ? outcomeOf(payload, key)
          : execute(payload, keeping(key, payload))
      }
    )

    /** Checks out once for a key of a plugin, for example the id of its row; the same call again gives the same order. */
    const startOnce = (request: CheckoutRequest, key: string) =>
      start(request, createHash("sha256").update(JSON.stringify(request)).digest("hex"), { key, scope: "plugin" })

    return { start, startOnce, takeOver, ...yield* releasingStuck }
  })
}) {
  static readonly layer = Layer.effect(Checkouts, Checkouts.make)
}
