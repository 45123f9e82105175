import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { SequencedEvent } from "../../src/domain/platform/events/EventSubscribers.ts"
import { eventStream } from "../../src/http/events/EventsHttp.ts"
import { Draining } from "../../src/http/server/RequestId.ts"

const event: SequencedEvent = {
  organizationId: "org_default",
  id: "0190163d-8694-739b-aea5-966c26f8ad91",
  sequence: 7,
  type: "orders.create",
  timestamp: new Date("2026-01-02T03:04:05.678Z"),
  entityType: "order",
  entityId: "o-1",
  data: { note: "two\nlines" },
  actorId: null,
  requestId: "r-1"
}

/** The text of an answer that is a stream, until it ends. */
const textOf = (events: Stream.Stream<SequencedEvent>) => {
  const { body } = eventStream(events)
  return body._tag === "Stream"
    ? Effect.map(Stream.runCollect(Stream.decodeText(body.stream)), (parts) => [...parts].join(""))
    : Effect.succeed("no stream")
}

describe("an answer that is a stream of events", () => {
  it.effect("a stream has a message for each event", () =>
    Effect.gen(function*() {
      const data = "{\"id\":\"0190163d-8694-739b-aea5-966c26f8ad91\",\"sequence\":7,\"type\":\"orders.create\"," +
        "\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"entityType\":\"order\",\"entityId\":\"o-1\"," +
        "\"data\":{\"note\":\"two\\nlines\"},\"actorId\":null,\"requestId\":\"r-1\"}"
      assert.strictEqual(
        yield* textOf(Stream.make(event)),
        `retry: 1000\n\nid: 7\nevent: orders.create\ndata: ${data}\n\n`
      )
    }))

  it.effect("a stream sends a heartbeat every 15 seconds and ends after 15 minutes", () =>
    Effect.gen(function*() {
      const reading = yield* Effect.forkChild(textOf(Stream.never))
      yield* Effect.repeat(TestClock.adjust("15 seconds"), { times: 64 })
      const text = yield* Fiber.join(reading)
      assert.isAtLeast(text.split(": heartbeat\n\n").length - 1, 58)
    }))

  it.effect("a stream ends within a second of the end of its process", () =>
    Effect.gen(function*() {
      const farewell = { begun: false, heardAt: 0, looksReady: false, waitsFor: "" }
      const reading = yield* textOf(Stream.never).pipe(Effect.provideService(Draining, farewell), Effect.forkChild)
      yield* TestClock.adjust("2 seconds")
      assert.isUndefined(reading.pollUnsafe())
      farewell.begun = true
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(reading), "retry: 1000\n\n")
    }))
})
