import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { holding } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, type asAdmin, asStaff, at, withApp } from "../support/TestApp.ts"
import { awaitEvents, eventsAfter, type OpenStream, openStream, sequenceOf } from "./EventStream.ts"

const entities = "/api/catalog/entities"

const aThing = (as: typeof asAdmin) =>
  Effect.map(api("POST", entities, { as, body: { type: "product", slug: newId() } }), (made) => made.text("data.id"))

/** So many messages, once they have come. */
const heard = (stream: OpenStream, count: number) =>
  eventually(`${count} messages`, Effect.sync(() => stream.messages().length >= count && stream.messages()))

withApp("the stream of events", (it) => {
  it.effect("tells what is already there and goes on with what happens", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const before = yield* aThing(as)
      yield* awaitEvents("the first", 0, (some) => some.length === 1, as)
      const stream = yield* openStream("?after=0", {}, as)
      assert.strictEqual(stream.status, 200)
      assert.match(stream.headers.get("content-type") ?? "", /^text\/event-stream/)
      assert.isString(stream.headers.get("x-request-id"))
      const [first] = yield* heard(stream, 1)
      const meanwhile = yield* aThing(as)
      const [, second] = yield* heard(stream, 2)
      assert.deepStrictEqual([at(first?.data, "entityId"), at(second?.data, "entityId")], [before, meanwhile])
      assert.deepStrictEqual([first?.id, second?.id], ["1", "2"])
      assert.deepStrictEqual([first?.event, second?.event], ["catalog.create", "catalog.create"])
      // A message holds the same event as the list.
      assert.deepStrictEqual([first?.data, second?.data], [...(yield* eventsAfter(0, as)).list("data")])
    }))

  it.effect("begins behind the cursor, or behind the last message that a client had", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      for (const _ of [1, 2, 3]) yield* aThing(as)
      yield* awaitEvents("three", 0, (some) => some.length === 3, as)
      for (
        const stream of [
          yield* openStream("?after=2", {}, as),
          yield* openStream("", { "last-event-id": "2" }, as),
          // A client that comes back sends both: the address it began with, and what it had.
          yield* openStream("?after=0", { "last-event-id": "2" }, as)
        ]
      ) {
        const [only] = yield* heard(stream, 1)
        assert.strictEqual(sequenceOf(only?.data), 3)
      }
    }))

  it.effect("tells everything once and in order while many write", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const stream = yield* openStream("?after=0", {}, as)
      yield* Effect.forEach(Array.from({ length: 50 }), () => aThing(as), { concurrency: 10 })
      const messages = yield* heard(stream, 50)
      assert.deepStrictEqual(messages.map(({ data }) => sequenceOf(data)), messages.map((_, nth) => nth + 1))
    }))

  it.effect("is of one organization, and needs webhooks:manage", () =>
    Effect.gen(function*() {
      const [as, outsider] = [yield* anOrganization, yield* anOrganization]
      const stream = yield* openStream("?after=0", {}, as)
      yield* aThing(outsider)
      yield* awaitEvents("theirs", 0, (some) => some.length === 1, outsider)
      const own = yield* aThing(as)
      const messages = yield* heard(stream, 1)
      assert.deepStrictEqual(messages.map(({ data }) => at(data, "entityId")), [own])
      assert.strictEqual((yield* openStream("", {}, asStaff)).status, 403)
      assert.strictEqual((yield* openStream("", {}, holding("webhooks:manage"))).status, 200)
    }))

  it.effect("refuses a cursor that is none before it begins", () =>
    Effect.gen(function*() {
      const stream = yield* openStream("?after=x")
      assert.strictEqual(stream.status, 422)
      assert.match(stream.headers.get("content-type") ?? "", /json/)
    }))
})
