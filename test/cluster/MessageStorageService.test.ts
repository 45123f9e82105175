import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Latch, Layer, Option, Schedule, Schema } from "effect"
import {
  ClusterSchema,
  Entity,
  Envelope,
  Message,
  MessageStorage,
  Reply,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig,
  Snowflake,
  SqlMessageStorage
} from "effect/cluster"
import { Headers } from "effect/http"
import { Rpc } from "effect/rpc"
import { ClusterTables } from "../../src/layers/cluster/ClusterTables.ts"
import * as GroupCommitMessageStorage from "../../src/layers/cluster/GroupCommitMessageStorage.ts"
import { ShardTenure } from "../../src/layers/cluster/ShardTenure.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { address, nextId } from "./Envelopes.ts"

const book = Rpc.make("book", {
  payload: { key: Schema.String },
  success: Schema.String,
  primaryKey: ({ key }) => key
}).annotate(ClusterSchema.Persisted, true)
const NumberBlock = Entity.make("Desk", [book])

const outgoing = (key: string) =>
  new Message.OutgoingRequest<typeof book>({
    envelope: Envelope.makeRequest<typeof book>({
      requestId: Snowflake.Snowflake(nextId()),
      address: address("1"),
      tag: "book",
      payload: book.payloadSchema.make({ key }),
      headers: Headers.empty
    }),
    annotations: book.annotations,
    context: Context.empty(),
    rpc: book,
    lastReceivedReply: Option.none(),
    respond: () => Effect.void
  })

const reply = (request: Message.OutgoingRequest<typeof book>, value: string) =>
  new Reply.ReplyWithContext<typeof book>({
    reply: new Reply.WithExit({
      id: Snowflake.Snowflake(nextId()),
      requestId: request.envelope.requestId,
      exit: Exit.succeed(value)
    }),
    context: Context.empty(),
    rpc: book
  })

const config = ShardingConfig.layer({
  shardsPerGroup: 1,
  entityMessagePollInterval: 20,
  refreshAssignmentsInterval: 20
})
const below = Layer.mergeAll(ClusterTables.layer, ShardTenure.layer, NodeCrypto.layerDigest, config).pipe(
  Layer.provideMerge(TestDatabase)
)

describe.each([
  { name: "stock", storage: SqlMessageStorage.layerStorage({}) },
  { name: "group-committing", storage: GroupCommitMessageStorage.layer }
])("the service over the $name storage", ({ storage }) => {
  const layer = storage.pipe(Layer.provideMerge(below))

  it.live("gives a stored reply to whoever waits for it, and to a repeat of the request", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStorage.MessageStorage
      const request = outgoing("1")
      const recorded: Array<unknown> = []
      assert.strictEqual((yield* messages.saveRequest(request))._tag, "Success")
      const waiting = new Message.OutgoingRequest<typeof book>({
        ...request,
        respond: (one) => Effect.sync(() => recorded.push(one._tag))
      })
      const waiter = yield* Effect.forkChild(messages.registerReplyHandler(waiting), { startImmediately: true })
      yield* messages.saveReply(reply(request, "seat 1"))
      yield* Fiber.join(waiter)
      assert.deepStrictEqual(recorded, ["WithExit"])
      const again = yield* messages.saveRequest(outgoing("1"))
      assert.isTrue(again._tag === "Duplicate" && Option.isSome(again.lastReceivedReply))
    }).pipe(Effect.provide(layer)))

  it.live("tells whoever waits only after the transaction that stored the reply has committed", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStorage.MessageStorage
      const request = outgoing("2")
      yield* messages.saveRequest(request)
      const waiter = yield* Effect.forkChild(messages.registerReplyHandler(request), { startImmediately: true })
      yield* messages.withTransaction(Effect.gen(function*() {
        yield* messages.saveReply(reply(request, "seat 2"))
        assert.isUndefined(waiter.pollUnsafe())
      }))
      yield* Fiber.join(waiter)
    }).pipe(Effect.provide(layer)))

  it.live("keeps a request for an entity that is registered late", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStorage.MessageStorage
      const request = outgoing("3")
      yield* messages.saveRequest(request)
      const opened = Latch.makeUnsafe(false)
      const late = NumberBlock.toLayer({ book: ({ payload }) => Effect.succeed(`seat ${payload.key}`) }).pipe(
        Layer.provide(Layer.effectDiscard(opened.await)),
        Layer.provideMerge(Sharding.layer),
        Layer.provide([Runners.layerNoop, RunnerHealth.layerNoop, RunnerStorage.layerMemory])
      )
      const process = yield* Effect.forkChild(Effect.scoped(Effect.andThen(Layer.build(late), Effect.never)))
      assert.deepStrictEqual(yield* messages.repliesFor([request]), [])
      yield* opened.open
      const stored = yield* Effect.flatMap(messages.repliesFor([request]), ([first]) => Effect.fromNullishOr(first))
        .pipe(
          Effect.retry({ schedule: Schedule.spaced(10), times: 500 })
        )
      assert.isTrue(stored._tag === "WithExit" && Exit.isSuccess(stored.exit) && stored.exit.value === "seat 3")
      yield* Fiber.interrupt(process)
    }).pipe(Effect.provide(layer)))
})
