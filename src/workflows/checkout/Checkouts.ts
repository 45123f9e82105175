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

export interface CheckoutKey {
  readonly key: string
  readonly scope: string
}

const scopeOf = (scope: string): string => `checkout:${scope}`

/** The checkout continues without its request, and the same key gives its result later. */
const timeout = Duration.seconds(30)

class OtherTotal extends conflict("OtherTotal", "The total is not the expected one.") {}
class KeyUsed extends conflict("IdempotencyKeyReused", "This Idempotency-Key was used for another checkout.") {}

/** Puts all payments but the last into `tenders`, gift cards first. Replaces tokens that must not be stored. */
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
 * Runs checkouts (contract §3) in the process that receives them. The workflow engine finishes runs that this process
 * cannot end (`CheckoutWorkflow`).
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
     * The process of the earlier request may have died at any moment. Its lease says nothing about its run, which is
     * open until its last change.
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

    /** Checks out once for a key of a plugin, for example the id of its row. 409 also for another total than expected. */
    const startOnce = (request: CheckoutRequest, key: string) =>
      Effect.catchTag(
        start(request, createHash("sha256").update(JSON.stringify(request)).digest("hex"), { key, scope: "plugin" }),
        "PriceChanged",
        () => new OtherTotal()
      )

    return { start, startOnce, takeOver, ...yield* releasingStuck }
  })
}) {
  static readonly layer = Layer.effect(Checkouts, Checkouts.make)
}
