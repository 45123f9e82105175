import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { WorkerLoopStarter } from "../../src/layers/jobs/JobNotifier.ts"
import { WorkerSlotLeases, WorkerSlotRepo } from "../../src/layers/jobs/WorkerSlotRepo.ts"
import { queueLayer } from "./Queue.ts"

/** The leases of a separate process with this access to the table of slots. */
const leasesOver = (slots: WorkerSlotRepo["Service"]) =>
  Layer.build(Layer.fresh(WorkerSlotLeases.layer.pipe(Layer.provide(WorkerLoopStarter.layer)))).pipe(
    Effect.provideService(WorkerSlotRepo, slots),
    Effect.map(Context.get(WorkerSlotLeases))
  )

it.layer(queueLayer({ tasks: [] }), { excludeTestServices: true })("a slot", (it) => {
  it.effect(
    "a worker that cannot renew the lease of its slot loses it before another one may have it",
    () =>
      Effect.gen(function*() {
        const slots = yield* WorkerSlotRepo
        yield* slots.prepare(["default"], [], 1)
        const [run] = yield* slots.open
        assert.isDefined(run)
        // No answer and no error, as from a machine that is gone.
        const cutOff = yield* (yield* leasesOver({ ...slots, extend: () => Effect.never })).take(run, newId())
        assert.isTrue(cutOff?.isHeld())
        const other = yield* (yield* leasesOver(slots)).take(run, newId())
        assert.deepStrictEqual([cutOff?.isHeld(), other?.isHeld()], [false, true])
        // The lease reports its loss, too.
        yield* cutOff?.lost ?? Effect.die("no lease")
      })
  )

  it.effect(
    "a lease that is lost stays lost, though its renewal is answered later",
    () =>
      Effect.gen(function*() {
        const slots = yield* WorkerSlotRepo
        yield* slots.prepare(["default", "other"], [], 1)
        const run = (yield* slots.open).find(({ queue }) => queue === "other")
        assert.isDefined(run)
        const answer = yield* Deferred.make<void>()
        const late = {
          ...slots,
          extend: (tokens: ReadonlyArray<string>) => Effect.as(Deferred.await(answer), [...tokens])
        }
        const lease = yield* (yield* leasesOver(late)).take(run, newId())
        yield* lease?.lost ?? Effect.die("no lease")
        yield* Deferred.succeed(answer, undefined)
        yield* Effect.promise(() => new Promise<void>((done) => setImmediate(done)))
        assert.isFalse(lease?.isHeld())
      })
  )
})
