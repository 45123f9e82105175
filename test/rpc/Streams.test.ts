import { assert } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { followEvents, StoaRpc } from "../../src/client/rpc/StoaRpc.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { restart, startService } from "../support/Service.ts"
import { asAdmin, withApp } from "../support/TestApp.ts"
import { callMetrics, clientAs } from "./Calls.ts"
import { as, rawSocket } from "./RawSocket.ts"

/** Entities straight into the table, and the events of as many changes over the API. */
const manyProducts = (count: number) =>
  onDatabase((sql) =>
    sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
      select gen_random_uuid(), 'org_default', 'product', 'many-' || lpad(n::text, 4, '0'), 'active', true
      from generate_series(1, ${count}::int) n`
  )

withApp("a stream", (it) => {
  it.effect("gives every record of a list once, also to a slow reader", () =>
    Effect.gen(function*() {
      yield* manyProducts(450)
      const rpc = yield* clientAs(asAdmin)
      const seen = yield* rpc["catalog.stream"]({ type: "product" }).pipe(
        Stream.rechunk(50),
        Stream.tap(() => Effect.yieldNow),
        Stream.map(({ slug }) => slug),
        Stream.filter((slug) => slug.startsWith("many-")),
        Stream.runCollect
      )
      assert.strictEqual(seen.length, 450)
      assert.strictEqual(new Set(seen).size, 450)
    }))

  it.effect("ends in the service when its reader has enough, and the connection goes on", () =>
    Effect.gen(function*() {
      const rpc = yield* clientAs(asAdmin)
      // More than a connection may have at once, one after the other.
      for (let turn = 0; turn < 70; turn++) {
        const first = yield* Stream.runHead(rpc["catalog.stream"]({}))
        assert.strictEqual(first._tag, "Some")
      }
      assert.strictEqual((yield* rpc["catalog.list"]({})).page, 1)
      yield* eventually(
        "the ends to be counted",
        Effect.map(callMetrics, (text) => /\{call="catalog.stream",outcome="interrupted"\} \d+/.test(text))
      )
    }))

  it.effect("is refused when a connection has too many, and each other goes on", () =>
    Effect.gen(function*() {
      const rpc = yield* clientAs(asAdmin)
      const tail = Effect.flip(Stream.runDrain(rpc["events.tail"]({ after: 1_000_000 })))
      const open = yield* Effect.all(Array.from({ length: 64 }, () => Effect.forkChild(tail)))
      yield* rpc["catalog.list"]({})
      assert.strictEqual((yield* tail)._tag, "TooManyRequests")
      assert.isTrue(open.every((fiber) => fiber.pollUnsafe() === undefined))
      yield* Effect.forEach(open, Fiber.interrupt, { concurrency: "unbounded" })
    }))

  it.effect("of events begins behind its cursor and goes on with each new one", () =>
    Effect.gen(function*() {
      const rpc = yield* clientAs(asAdmin)
      const other = yield* clientAs(asAdmin)
      const before = yield* rpc["events.list"]({ limit: 100 })
      const two = yield* rpc["events.tail"]({ after: before.next, type: "catalog.create" }).pipe(
        Stream.take(2),
        Stream.runCollect,
        Effect.forkChild
      )
      const first = yield* other["catalog.create"]({ type: "product", slug: "heard-first" })
      const second = yield* other["catalog.create"]({ type: "product", slug: "heard-second" })
      const heard = yield* Fiber.join(two)
      assert.deepStrictEqual(heard.map(({ entityId }) => entityId), [first.id, second.id])
      const [, last] = heard
      const later = yield* rpc["events.tail"]({ after: (last?.sequence ?? 0) - 1 }).pipe(Stream.runHead)
      assert.strictEqual(later._tag === "Some" ? later.value.entityId : "", second.id)
    }))

  it.effect("waits for its reader: nothing is sent that was not acknowledged", () =>
    Effect.gen(function*() {
      yield* onDatabase((sql) => sql`delete from catalog_entities where slug like 'many-%'`)
      yield* manyProducts(450)
      const socket = yield* rawSocket
      const headers = Object.entries(as(asAdmin))
      socket.send(`${JSON.stringify({ _tag: "Request", id: 1, tag: "catalog.stream", payload: {}, headers })}\n`)
      yield* eventually("the first page", Effect.sync(() => socket.frames.length > 0))
      // Another call's answer comes after everything that was sent before it.
      assert.isTrue((yield* socket.call("catalog.list", {}, as(asAdmin))).ok)
      assert.deepStrictEqual(socket.frames.map(({ _tag, values }) => [_tag, values?.length]), [["Chunk", 100]])
      socket.send(`${JSON.stringify({ _tag: "Ack", requestId: 1 })}\n`)
      yield* eventually("the second page", Effect.sync(() => socket.frames.length === 2))
    }))
})

withApp("a feed of events", (it) => {
  it.effect("goes on where it was when the service is killed and comes back", () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const service = yield* startService({ databaseUrl })
      const connection = { url: service.url, apiKey: "dev-admin-key" }
      const heard: Array<string> = []
      yield* followEvents({ type: "catalog.create" }).pipe(
        Stream.runForEach(({ entityId }) => Effect.sync(() => void heard.push(entityId))),
        Effect.provide(StoaRpc.layerSocket(connection)),
        Effect.forkChild
      )
      const create = (slug: string) =>
        Effect.flatMap(StoaRpc, (rpc) => rpc["catalog.create"]({ type: "product", slug })).pipe(
          Effect.map(({ id }) => id),
          Effect.provide(StoaRpc.layerSocket(connection))
        )
      const first = yield* create("before-it-dies")
      yield* eventually("the first event", Effect.sync(() => heard.length === 1))
      service.kill("SIGKILL")
      yield* restart(service, { databaseUrl })
      const second = yield* create("after-it-died")
      yield* eventually("the second event", Effect.sync(() => heard.length === 2))
      assert.deepStrictEqual(heard, [first, second])
    }))
})
