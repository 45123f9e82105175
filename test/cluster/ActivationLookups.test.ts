import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Latch, Layer, Option, Schema } from "effect"
import {
  ClusterWorkflowEngine,
  Envelope,
  type Message,
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
import { ShardTenure } from "../../src/layers/cluster/ActivationLookups.ts"
import { until } from "./Storages.ts"

const execution = "Workflow/Order/e1"
const interruptKey = `${execution}${ActivationLookups.interruptSuffix}`
const entity = { entityType: "Workflow/Order", entityId: "e1" }
const run = { ...entity, tag: "run", shardId: "default:1", primaryKey: `${execution}/run/` }

const setup = () => {
  const tenure = Context.get(Effect.runSync(Effect.scoped(Layer.build(ShardTenure.layer))), ShardTenure)
  const clock = { now: 1_000 }
  const lookups = ActivationLookups.make(tenure, () => clock.now)
  const begin = () => tenure.begin(["default:1"])
  begin()
  const start = () => {
    const starting = lookups.starting(run)
    if (starting === undefined) throw new Error("not noted")
    return starting
  }
  return {
    clock,
    lookups,
    start,
    started: () => lookups.started(start()),
    /** Whether the answer is known without the table. */
    absent: () => lookups.isKnownAbsent(interruptKey),
    changesHands: () => {
      tenure.end(["default:1"])
      begin()
    },
    touched: (tag: string) => lookups.touched({ ...entity, tag })
  }
}

/** Titles, and steps between the start of an execution and the look-up for its interrupt. */
const uncertain: ReadonlyArray<readonly [string, (known: ReturnType<typeof setup>) => void]> = [
  ["before its row is written", ({ start }) => void start()],
  ["when a look-up came while its row was written", ({ absent, lookups, start }) => {
    const starting = start()
    absent()
    lookups.started(starting)
  }],
  ["when its row existed already", ({ lookups, start }) => lookups.dropped(start())],
  ["after the shard was lost, even if it was acquired again", ({ changesHands, started }) => {
    started()
    changesHands()
  }],
  ["when the shard changed hands while the row was written", ({ changesHands, lookups, start }) => {
    const starting = start()
    changesHands()
    lookups.started(starting)
  }],
  ["after another request for it was written or handed out", ({ started, touched }) => {
    started()
    touched("deferred")
  }],
  ["when another request for it was handed out while its row was written", ({ lookups, start, touched }) => {
    const starting = start()
    touched("deferred")
    lookups.started(starting)
  }],
  ["after a second", ({ clock, started }) => {
    started()
    clock.now += 1_000
  }],
  ["when the clock was set back", ({ clock, started }) => {
    started()
    clock.now -= 1
  }]
]

describe("the interrupt of an execution", () => {
  it("is known to be absent once after the execution was started in a shard held here", () => {
    const { absent, lookups, started, touched } = setup()
    started()
    touched("run")
    assert.isFalse(lookups.isKnownAbsent("Workflow/Order/e2/deferred/Workflow/InterruptSignal"))
    assert.isFalse(lookups.isKnownAbsent(`${execution}/deferred/Paid`))
    assert.deepStrictEqual([absent(), absent()], [true, false])
  })

  for (const [when, steps] of uncertain) {
    it(`is looked up in the table ${when}`, () => {
      const known = setup()
      steps(known)
      assert.isFalse(known.absent())
    })
  }

  it("is looked up in the table for a shard held elsewhere and for another kind of request", () => {
    const { lookups } = setup()
    for (
      const other of [
        { shardId: "default:2" },
        { tag: "activity" },
        { entityType: "Stock", primaryKey: "Stock/e1/run/" },
        { primaryKey: `${execution}/run/clock` }
      ]
    ) assert.isUndefined(lookups.starting({ ...run, ...other }))
  })
})

// What the engine does today, on which the answer "absent" rests. When one of these fails after an upgrade of Effect,
// the shortcut must be removed or justified again.
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

const appears = (seen: ReadonlyArray<string>, what: string) =>
  until(Effect.sync(() => Option.fromUndefinedOr(seen.find((entry) => entry === what))))

describe("the engine", () => {
  it.live("saves the run of an execution under a fixed key and asks for its interrupt once, before it runs", () => {
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

  it.live("hands an execution the interrupt that was saved, but not answered, before it asked", () => {
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

  it.live("sends no interrupt to an execution that has no run", () => {
    const { layer, seen } = engine()
    return Effect.gen(function*() {
      yield* Waiting.interrupt("unknown")
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.provide(layer))
  })
})
