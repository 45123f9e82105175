import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Latch, Scope } from "effect"
import { Socket } from "effect/socket"
import { joiningFrames } from "../../src/http/rpc/JoinedFrames.ts"
import { eventually } from "../support/Eventually.ts"
import { asAdmin, withApp } from "../support/TestApp.ts"
import { socketUrl } from "./Calls.ts"
import { as } from "./RawSocket.ts"

/** A socket of this process: what is written on it, and a connection that is there while its reader is held. */
const makePair = Effect.gen(function*() {
  const written: Array<string | Socket.CloseEvent> = []
  const there = Latch.makeUnsafe(false)
  const write: Socket.Writer["write"] = (chunk) =>
    there.whenOpen(Effect.sync(() => void written.push(typeof chunk === "string" || "code" in chunk ? chunk : "bytes")))
  const connected = Effect.acquireRelease(there.open, () => there.close)
  const socket = yield* joiningFrames(Socket.make({
    writer: Effect.succeed({ write, writeAll: () => Effect.void }),
    reader: Effect.as(connected, { pull: Effect.never, upgrade: () => Effect.void })
  }))
  const connect = Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Scope.provide(socket.reader, scope)
    return scope
  })
  return { written, writer: yield* socket.writer, connect }
})

/** Everything that one turn of the event loop leaves for its end has happened. */
const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve))))

describe("what is written on a socket of messages", () => {
  it.live("at once goes in one frame, in its order, and what follows in the next", () =>
    Effect.gen(function*() {
      const { connect, written, writer } = yield* makePair
      yield* connect
      for (const line of ["1\n", "2\n", "3\n"]) yield* writer.write(line)
      yield* turn
      yield* writer.write("4\n")
      yield* turn
      assert.deepStrictEqual(written, ["1\n2\n3\n", "4\n"])
    }))

  it.live("goes before the frame that closes the socket", () =>
    Effect.gen(function*() {
      const { connect, written, writer } = yield* makePair
      yield* connect
      const close = new Socket.CloseEvent(1001, "the end")
      yield* writer.write("1\n")
      yield* writer.write(close)
      assert.deepStrictEqual(written, ["1\n", close])
    }))

  it.live("makes no frame of more than 16 KiB, unless a message alone is longer", () =>
    Effect.gen(function*() {
      const { connect, written, writer } = yield* makePair
      yield* connect
      const [small, large] = [`${"s".repeat(6_000)}\n`, `${"l".repeat(20_000)}\n`]
      for (const line of [small, small, small, large, small]) yield* writer.write(line)
      yield* turn
      assert.deepStrictEqual(written, [small + small, small, large, small])
    }))

  it.live("waits by itself for a connection, and can be withdrawn until then", () =>
    Effect.gen(function*() {
      const { connect, written, writer } = yield* makePair
      const withdrawn = yield* Effect.forkChild(writer.write("withdrawn\n"))
      const kept = yield* Effect.forkChild(writer.write("kept\n"))
      yield* turn
      yield* Fiber.interrupt(withdrawn)
      yield* connect
      yield* Fiber.join(kept)
      assert.deepStrictEqual(written, ["kept\n"])
    }))

  it.live("is not sent on the next connection when its own has ended: whoever waits for an answer was told so", () =>
    Effect.gen(function*() {
      const { connect, written, writer } = yield* makePair
      const connection = yield* connect
      yield* writer.write("lost\n")
      yield* Scope.close(connection, Exit.void)
      yield* connect
      yield* turn
      assert.deepStrictEqual(written, [])
    }))
})

withApp("answers", (it) => {
  it.effect("that are ready together come in one frame", () =>
    Effect.gen(function*() {
      const socket = new WebSocket(yield* socketUrl)
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.close()))
      const frames: Array<ReadonlyArray<string>> = []
      const open = yield* Deferred.make<void>()
      socket.addEventListener("message", ({ data }) => {
        frames.push(String(data).split("\n").filter((line) => line !== ""))
      })
      socket.addEventListener("open", () => Deferred.doneUnsafe(open, Effect.void))
      yield* Deferred.await(open)
      const headers = Object.entries(as(asAdmin))
      const calls = Array.from({ length: 20 }, (_, id) =>
        JSON.stringify({ _tag: "Request", id, tag: "inventory.check", payload: { entityIds: [] }, headers }))
      socket.send(`${calls.join("\n")}\n`)
      yield* eventually(
        "all answers",
        Effect.sync(() =>
          frames.flat().length === 20
        )
      )
      assert.isBelow(frames.length, 20)
      assert.strictEqual(new Set(frames.flat().map((line) => JSON.parse(line).requestId)).size, 20)
    }))
})
