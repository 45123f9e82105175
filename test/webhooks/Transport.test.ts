import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { WebhookSender, WebhookSettings } from "../../src/domain/webhooks/WebhookSender.ts"
import { httpSender } from "../../src/layers/webhooks/HttpSender.ts"
import { HostResolver } from "../../src/layers/webhooks/TargetGuard.ts"
import { waitFor } from "../support/waitFor.ts"
import { webhookReceiver } from "../support/WebhookReceiver.ts"
import { endpointAt, loopback } from "./WebhookWorld.ts"

const Sending = Layer.provide(httpSender(loopback), [HostResolver.system, WebhookSettings.layerOf()])

const send = (url: string) =>
  Effect.flatMap(WebhookSender, (sender) => sender.send(endpointAt(url), { id: "evt_1", type: "t", body: "{}" }))

const untilClosed = (receiver: { readonly open: () => number }) =>
  Effect.promise(() => waitFor("the connection to be closed", () => receiver.open() === 0))

it.layer(Sending)("an attempt", (it) => {
  for (const behaviour of ["hang", "slow headers"] as const) {
    it.effect(`an attempt ends after ten seconds in total if the receiver does this: ${behaviour}`, () =>
      Effect.gen(function*() {
        const receiver = yield* webhookReceiver()
        receiver.react(behaviour)
        const fiber = yield* Effect.forkChild(send(receiver.url))
        yield* Effect.promise(() => waitFor("the request", () => receiver.received.length === 1))
        yield* TestClock.adjust("9999 millis")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        const { durationMs, error, statusCode } = yield* Fiber.join(fiber)
        assert.deepStrictEqual([statusCode, error, durationMs], [null, "No answer within 10 seconds.", 10_000])
        yield* untilClosed(receiver)
      }))
  }

  it.effect("an attempt does not wait for a slow body", () =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      receiver.react("drip")
      const fiber = yield* Effect.forkChild(send(receiver.url))
      // The clock is moved until the attempt has the answer's head and waits for its body.
      yield* Effect.promise(() => waitFor("the answer", () => receiver.sent() > 400))
      for (let turn = 0; fiber.pollUnsafe() === undefined && turn < 4; turn++) yield* TestClock.adjust("2 seconds")
      const { error, responseSnippet, statusCode } = yield* Fiber.join(fiber)
      assert.deepStrictEqual([statusCode, error], [200, null])
      assert.match(responseSnippet ?? "", /^\.+$/)
      yield* untilClosed(receiver)
    }))
})

describe("the answer of a receiver", () => {
  const answered = Effect.fnUntraced(
    function*(react: Parameters<Effect.Success<ReturnType<typeof webhookReceiver>>["react"]>[0]) {
      const receiver = yield* webhookReceiver()
      receiver.react(react)
      const result = yield* Effect.provide(send(receiver.url), Sending)
      yield* untilClosed(receiver)
      return { receiver, result }
    }
  )

  it.live("an endless body is read up to 1 kB", () =>
    Effect.gen(function*() {
      const { receiver, result } = yield* answered("endless")
      assert.deepStrictEqual([result.statusCode, result.error, result.responseSnippet], [200, null, "x".repeat(1_024)])
      // What the buffers of two sockets hold, and no more.
      assert.isBelow(receiver.sent(), 16 * 1_048_576)
    }))

  it.live("a body of any bytes is stored as text", () =>
    Effect.gen(function*() {
      const { result } = yield* answered({ status: 200, body: `a\0${"é".repeat(1_000)}` })
      const snippet = result.responseSnippet ?? ""
      assert.isAtMost(Buffer.byteLength(snippet), 1_024)
      assert.isTrue(snippet.startsWith("a\ufffdéé"))
      assert.notInclude(snippet, "\0")
    }))

  it.live("a broken connection is reported as no answer", () =>
    Effect.gen(function*() {
      const { result } = yield* answered("reset")
      assert.deepStrictEqual([result.statusCode, result.error], [null, "No answer: ECONNRESET"])
    }))

  it.live("a refused connection is reported as no answer", () =>
    Effect.gen(function*() {
      const port = yield* Effect.scoped(Effect.map(webhookReceiver(), (receiver) => receiver.port))
      const result = yield* Effect.provide(send(`http://127.0.0.1:${port}/`), Sending)
      assert.strictEqual(result.error, "No answer: ECONNREFUSED")
    }))
})
