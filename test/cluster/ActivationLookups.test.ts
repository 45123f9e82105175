import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch, Layer, Option, Schedule, Schema } from "effect"
import type { Message } from "effect/cluster"
import {
  ClusterWorkflowEngine,
  Envelope,
  MessageStorage,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig
} from "effect/cluster"
import type { Rpc } from "effect/rpc"
import { DurableDeferred, Workflow } from "effect/workflow"
import * as ActivationLookups from "../../src/layers/cluster/ActivationLookups.ts"
import { ShardTenure } from "../../src/layers/cluster/ShardTenure.ts"

const execution = "Workflow/Order/e1"
const interruptKey = `${execution}${ActivationLookups.interruptSuffix}`
const entity = { entityType: "Workflow/Order", entityId: "e1" }
const run = { ...entity, tag: "run", shardId: "default:1", primaryKey: `${execution}/run/` }

const setup = Effect.gen(function*() {
  const tenure = yield* ShardTenure
  tenure.begin(["default:1"])
  const clock = { now: 1_000 }
  const lookups = ActivationLookups.make(tenure, () => clock.now)
  const start = () => {
    const starting = lookups.starting(run)
    if (starting === undefined) throw new Error("not noted")
    return starting
  }
  return { clock, lookups, start, tenure }
})

describe("ActivationLookups", () => {
  it.layer(ShardTenure.layer)("knows that nothing answered the interrupt of an execution", (it) => {
    it.effect("that was just started in a shard held here, for one look-up", () =>
      Effect.gen(function*() {
        const { lookups, start } = yield* setup
        lookups.started(start())
        assert.isFalse(lookups.isKnownAbsent("Workflow/Order/e2/deferred/Workflow/InterruptSignal"))
        assert.isFalse(lookups.isKnownAbsent(`${execution}/deferred/Paid`))
        assert.isTrue(lookups.isKnownAbsent(interruptKey))
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
      }))

    it.effect("but not before its row is known to be new, nor when somebody looked while it was written", () =>
      Effect.gen(function*() {
        const { lookups, start } = yield* setup
        const starting = start()
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
        lookups.started(starting)
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
      }))

    it.effect("but not when its row existed already", () =>
      Effect.gen(function*() {
        const { lookups, start } = yield* setup
        lookups.dropped(start())
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
      }))

    it.effect("but not after the shard was lost, even if it was acquired again", () =>
      Effect.gen(function*() {
        const { lookups, start, tenure } = yield* setup
        lookups.started(start())
        tenure.end(["default:1"])
        tenure.begin(["default:1"])
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
      }))

    it.effect("but not when the shard changed hands while the row was written", () =>
      Effect.gen(function*() {
        const { lookups, start, tenure } = yield* setup
        const starting = start()
        tenure.end(["default:1"])
        tenure.begin(["default:1"])
        lookups.started(starting)
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
      }))

    it.effect("but not in a shard held elsewhere, nor for another kind of request", () =>
      Effect.gen(function*() {
        const { lookups } = yield* setup
        assert.isUndefined(lookups.starting({ ...run, shardId: "default:2" }))
        assert.isUndefined(lookups.starting({ ...run, tag: "activity" }))
        assert.isUndefined(lookups.starting({ ...run, entityType: "Desk", primaryKey: "Desk/e1/run/" }))
        assert.isUndefined(lookups.starting({ ...run, primaryKey: `${execution}/run/clock` }))
      }))

    it.effect("but not after another request for it was written or handed out, even during the write", () =>
      Effect.gen(function*() {
        const { lookups, start } = yield* setup
        lookups.started(start())
        lookups.touched({ ...entity, tag: "deferred" })
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
        const starting = start()
        lookups.touched({ ...entity, tag: "deferred" })
        lookups.started(starting)
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
        lookups.started(start())
        lookups.touched({ ...entity, tag: "run" })
        assert.isTrue(lookups.isKnownAbsent(interruptKey))
      }))

    it.effect("but not for longer than a second, nor when the clock was set back", () =>
      Effect.gen(function*() {
        const { clock, lookups, start } = yield* setup
        lookups.started(start())
        clock.now += 1_000
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
        lookups.started(start())
        clock.now -= 1
        assert.isFalse(lookups.isKnownAbsent(interruptKey))
      }))
  })
})

// What the engine does today, on which the answer "absent" rests. When one of these fails after an upgrade of Effect,
// the shortcut must be taken out or argued anew.
const Waiting = Workflow.make("Waiting", {
  payload: { id: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ id }) => id
})
const Signal = DurableDeferred.make("signal", { success: Schema.String })

/** An engine in memory whose storage notes look-ups and saves, and can hold the first look-up of an activation back. */
const engine = () => {
  const seen: Array<string> = []
  const gate = Latch.makeUnsafe(true)
  let answers = 0
  const note = (what: string) => Effect.sync(() => seen.push(what))
  const noting = Layer.effect(
    MessageStorage.MessageStorage,
    Effect.map(MessageStorage.MessageStorage, (inner) =>
      MessageStorage.MessageStorage.of({
        ...inner,
        saveRequest: <R extends Rpc.Any>(message: Message.OutgoingRequest<R>) =>
          Effect.tap(inner.saveRequest(message), () => note(`saved ${Envelope.primaryKey(message.envelope)}`)),
        requestIdForPrimaryKey: (options) => {
          const key = Envelope.primaryKeyByAddress(options)
          if (!key.endsWith(ActivationLookups.interruptSuffix)) return inner.requestIdForPrimaryKey(options)
          // The first look-up is answered as the shortcut does: without looking.
          return note(`asked ${key}`).pipe(
            Effect.andThen(gate.await),
            Effect.andThen(
              Effect.suspend(() => answers++ === 0 ? Effect.succeedNone : inner.requestIdForPrimaryKey(options))
            )
          )
        }
      }))
  ).pipe(Layer.provide(MessageStorage.layerMemory))
  const cluster = ClusterWorkflowEngine.layer.pipe(
    Layer.provide(NodeCrypto.layer),
    Layer.provideMerge(Sharding.layer),
    Layer.provideMerge(Runners.layerNoop),
    Layer.provideMerge(noting),
    Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
    Layer.provide(ShardingConfig.layer({ shardsPerGroup: 4, entityMessagePollInterval: 50 }))
  )
  const workflows = Waiting.toLayer(() => Effect.andThen(note("ran"), DurableDeferred.await(Signal)))
  return { seen, gate, layer: workflows.pipe(Layer.provideMerge(cluster)) }
}

const until = <A, R>(check: Effect.Effect<Option.Option<A>, never, R>) =>
  Effect.flatMap(check, Effect.fromOption).pipe(
    Effect.retry({ schedule: Schedule.spaced(10), times: 500 }),
    Effect.orDie
  )

const appears = (seen: ReadonlyArray<string>, what: string) =>
  until(Effect.sync(() => Option.fromUndefinedOr(seen.find((entry) => entry === what))))

describe("the engine's activation of an execution", () => {
  it.live("saves its run under a fixed key and asks for its interrupt once, before it runs", () => {
    const { layer, seen } = engine()
    return Effect.gen(function*() {
      const id = yield* Waiting.execute({ id: "1" }, { discard: true })
      yield* appears(seen, "ran")
      assert.deepStrictEqual(seen.slice(0, 3).toSorted(), [
        `asked Workflow/Waiting/${id}${ActivationLookups.interruptSuffix}`,
        "ran",
        `saved Workflow/Waiting/${id}/run/`
      ])
      assert.isBelow(seen.findIndex((entry) => entry.startsWith("asked")), seen.indexOf("ran"))
    }).pipe(Effect.provide(layer))
  })

  it.live("is handed an interrupt that was saved, but not answered, before it asked", () => {
    const { gate, layer, seen } = engine()
    return Effect.gen(function*() {
      yield* gate.close
      const id = yield* Waiting.execute({ id: "2" }, { discard: true })
      const key = `Workflow/Waiting/${id}${ActivationLookups.interruptSuffix}`
      yield* appears(seen, `asked ${key}`)
      yield* Waiting.interrupt(id)
      yield* appears(seen, `saved ${key}`)
      yield* gate.open
      const result = yield* until(Effect.map(Waiting.poll(id), Option.filter((one) => one._tag === "Complete")))
      assert.isTrue(result._tag === "Complete" && result.exit._tag === "Failure")
    }).pipe(Effect.provide(layer))
  })

  it.live("is never sent an interrupt for an execution that has no run", () => {
    const { layer, seen } = engine()
    return Effect.gen(function*() {
      yield* Waiting.interrupt("nobody")
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.provide(layer))
  })
})
