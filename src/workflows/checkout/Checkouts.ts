import { Context, Duration, Effect, Layer, Option } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import type { CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import { Conflict, StillRunning, Unavailable } from "../../domain/errors/ApiErrors.ts"
import { IdempotencyKeys } from "../../domain/idempotency/IdempotencyKeys.ts"
import { idFrom, newId } from "../../domain/ids/Id.ts"
import { type CheckoutError, type CheckoutPayload, type CheckoutResult, CheckoutWorkflow } from "./CheckoutWorkflow.ts"

/** A key the client chose, whose it is, and the fingerprint of the request it came with. */
export interface CheckoutKey {
  readonly key: string
  readonly scope: string
}

/** How long a shopper waits for an answer. The checkout goes on without him; the same key gives its outcome later. */
const patience = Duration.seconds(30)

/** Starts durable checkouts and waits for their outcome (contract §3). */
export class Checkouts extends Context.Service<Checkouts, {
  /**
   * Checks a cart out. With a key: the same request gives the same order, another request 409, a running one 409 with
   * `Retry-After` (contract §3.8). The key decides the checkout's id, so a repeat can only ever meet the first one.
   */
  readonly start: (
    request: CheckoutRequest,
    requestHash: string,
    key: CheckoutKey | null
  ) => Effect.Effect<CheckoutResult, CheckoutError | StillRunning, CurrentActor>
}>()("stoa/workflows/checkout/Checkouts") {
  static readonly layer = Layer.effect(
    Checkouts,
    Effect.gen(function*() {
      const engine = yield* WorkflowEngine.WorkflowEngine
      const carts = yield* Carts
      const keys = yield* IdempotencyKeys

      const execute = (payload: CheckoutPayload) =>
        CheckoutWorkflow.execute(payload).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
          Effect.timeoutOrElse({
            duration: patience,
            orElse: () =>
              Effect.fail(Unavailable.of("The checkout is still running. Ask again with the same Idempotency-Key."))
          })
        )

      /** An earlier request has the key: its outcome if there is one. */
      const outcomeOf = Effect.fnUntraced(function*(payload: CheckoutPayload) {
        const executionId = yield* CheckoutWorkflow.executionId(payload)
        const state = yield* CheckoutWorkflow.poll(executionId).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
        )
        return Option.isSome(state) && state.value._tag === "Complete"
          ? yield* execute(payload)
          : yield* StillRunning.of()
      })

      const start = Effect.fn("Checkouts.start")(
        function*(request: CheckoutRequest, requestHash: string, key: CheckoutKey | null) {
          const actor = yield* CurrentActor
          const { customerId, secretHash } = yield* carts.visitor
          const payload: CheckoutPayload = {
            checkoutId: key === null ? newId() : idFrom("checkout", actor.organizationId, key.scope, key.key),
            actor: { ...actor, cartSecret: null },
            customerId,
            secretHash,
            request,
            requestHash,
            idempotencyKey: key?.key ?? null
          }
          const claim = key === null
            ? { _tag: "Claimed" } as const
            : yield* keys.claim(`checkout:${key.scope}`, key.key, requestHash)
          if (claim._tag === "OtherRequest") {
            return yield* Conflict.of("This Idempotency-Key was used for another checkout.")
          }
          return claim._tag === "Claimed" ? yield* execute(payload) : yield* outcomeOf(payload)
        }
      )

      return { start }
    })
  )
}
