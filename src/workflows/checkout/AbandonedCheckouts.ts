import { Cause, Effect, Exit, Option, Schedule } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { BasketRepo, type StuckCart } from "../../domain/checkout/BasketRepo.ts"
import { type AbandonedRun, CheckoutRunRepo, type RunToken } from "../../domain/checkout/CheckoutRunRepo.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import { ProcessNumber } from "../../domain/platform/database/ProcessNumber.ts"
import type { OrderId } from "../../domain/platform/ids/Id.ts"
import type { runCheckout } from "./Checkout.ts"
import { releaseCheckout, voidEarlier } from "./CheckoutPayment.ts"
import { type CheckoutPayload, CheckoutWorkflow, decodePayload } from "./CheckoutWorkflow.ts"

export type CheckoutServices = Effect.Services<ReturnType<typeof runCheckout>>

export const makeEngineRuns = Effect.map(WorkflowEngine.WorkflowEngine, (engine) => {
  const leave = (payload: CheckoutPayload) =>
    Effect.provideService(
      CheckoutWorkflow.execute(payload, { discard: true, detached: true }),
      WorkflowEngine.WorkflowEngine,
      engine
    )

  const ending = Effect.fnUntraced(function*(payload: CheckoutPayload) {
    const state = Option.getOrUndefined(
      yield* CheckoutWorkflow.poll(yield* CheckoutWorkflow.executionId(payload))
    )
    return state?._tag === "Complete" ? state.exit : undefined
  }, Effect.provideService(WorkflowEngine.WorkflowEngine, engine))

  const byEngine = (payload: CheckoutPayload) =>
    CheckoutWorkflow.execute(payload).pipe(
      Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
      Effect.sandbox,
      Effect.retry({ while: Cause.hasDies, schedule: Schedule.spaced("1 second") }),
      Effect.catch(Effect.failCause)
    )

  return { leave, ending, byEngine }
})

/** Takes over checkouts whose process died or froze; `running` are those of this process. */
export const takingOver = Effect.fnUntraced(function*(
  { ending, leave }: Effect.Success<typeof makeEngineRuns>,
  running: ReadonlyMap<RunToken, OrderId>
) {
  const processes = yield* ProcessNumber
  const runs = yield* CheckoutRunRepo
  const services = yield* Effect.context<CheckoutServices>()

  const follow = Effect.fnUntraced(function*({ owner, payload: stored }: AbandonedRun) {
    const payload = decodePayload(stored)
    const ended = yield* ending(payload)
    if (ended === undefined) {
      yield* leave(payload)
      return
    }
    const run = { ...payload, owner, process: null }
    // A repeat may claim the cart of a refused checkout again, and die before it is refused. Version 0.2.0 writes no
    // runs: its engine may have ended the checkout and left the row.
    const end = Exit.isFailure(ended) ? releaseCheckout(run, voidEarlier(run)) : runs.end(run)
    yield* end.pipe(
      Effect.catchTag("RunLost", () => Effect.void),
      Effect.provideService(CurrentActor, payload.actor),
      Effect.provideContext(services)
    )
  })

  /** Leaves abandoned checkouts to the workflow engine. Returns how many it looked at. */
  const takeOver = Effect.gen(function*() {
    const abandoned = yield* runs.abandoned(yield* processes.current, [...running.values()])
    // One that cannot be read, or whose shard is still at the frozen process, must not hold up the others.
    yield* Effect.forEach(
      abandoned,
      (one) => Effect.catchCause(follow(one), (cause) => Effect.logError("a checkout cannot be taken over", cause)),
      { concurrency: 20, discard: true }
    )
    return abandoned.length
  }).pipe(Effect.withSpan("Checkouts.takeOver"))

  return { takeOver }
})

export const cartsPerRun = 100

export const releasingStuck = Effect.gen(function*() {
  const baskets = yield* BasketRepo
  const holds = yield* HoldRepo
  const release = (cart: StuckCart) =>
    // The ended hold refuses a run that starts later.
    Effect.andThen(holds.release(cart.checkoutId), baskets.releaseStuck(cart)).pipe(
      Effect.provideService(CurrentActor, systemActor(cart.organizationId))
    )
  /** Releases at most 100 carts whose checkout has no run. */
  const releaseStuck = Effect.gen(function*() {
    const released = yield* Effect.forEach(yield* baskets.stuck(cartsPerRun), release)
    return released.filter(Boolean).length
  }).pipe(Effect.withSpan("Checkouts.releaseStuck"))

  return { releaseStuck }
})
