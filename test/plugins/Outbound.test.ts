import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Layer, Schema, Stream } from "effect"
import { definePlugin, group, type Outbound, outbound, type OutboundOptions, type OutboundStream } from "stoa/plugin"
import { HostResolver } from "../../src/layers/webhooks/TargetGuard.ts"
import { guardedTransport } from "../../src/plugins/kit/install/GuardedTransport.ts"
import { outboundOver } from "../../src/plugins/kit/outbound/Outbound.ts"
import { notedWaits } from "../support/NotedWaits.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { answering, serviceEmulator } from "./ServiceEmulator.ts"

/** The guard as in production, but that it admits plain http. */
const transport = guardedTransport({ allowPrivate: false, allowHttp: true, ports: undefined }, HostResolver.system)

/** Does it this much later. */
const later = (milliseconds: number) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const shifted: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + milliseconds)
    })
    return Effect.provideService(work, Clock.Clock, shifted)
  })

/** Emulator and client of one test; the client waits a millisecond where it would wait longer. */
const started = Effect.fnUntraced(function*(options: Partial<OutboundOptions> = {}) {
  const service = yield* serviceEmulator
  const client = outboundOver(yield* transport, {
    name: "erp",
    origins: [service.origin],
    delay: 1,
    breaker: { failures: 50, pauseMs: 60_000 },
    ...options
  })
  const tagOf = (path: string, rest: Partial<Parameters<Outbound["request"]>[0]> = {}) =>
    client.request({ url: `${service.origin}${path}`, ...rest }).pipe(
      Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: ({ status }) => String(status) })
    )
  return { ...service, client, tagOf }
})

describe("calls to another service", () => {
  it.live("send method, headers and JSON, and read an answer by its schema", () =>
    Effect.gen(function*() {
      const { client, origin, received } = yield* started({ headers: { authorization: "Bearer t" } })
      const body = { items: [1, 2] }
      const answer = yield* client.json(Schema.Struct({ ok: Schema.Boolean }), {
        url: `${origin}/orders?x=1`,
        body,
        idempotencyKey: "order-7"
      })
      assert.deepStrictEqual(answer, { ok: true })
      assert.deepStrictEqual([received[0]?.method, received[0]?.path, received[0]?.body], [
        "POST",
        "/orders?x=1",
        JSON.stringify(body)
      ])
      assert.deepInclude(received[0]?.headers, {
        authorization: "Bearer t",
        "content-type": "application/json",
        "idempotency-key": "order-7"
      })
      const wrong = yield* Effect.flip(client.json(Schema.Struct({ no: Schema.String }), { url: origin }))
      assert.strictEqual(wrong._tag, "SchemaError")
    }))

  it.live("are tried again after failures of the service where that is safe, with the same key", () =>
    Effect.gen(function*() {
      const { received, script, tagOf } = yield* started()
      script.push(answering(503), (response) => response.destroy())
      assert.strictEqual(yield* tagOf("/stock"), "200")
      script.push(answering(502))
      assert.strictEqual(yield* tagOf("/orders", { body: {} }), "OutboundRejected", "a POST may have taken effect")
      script.push((response) => response.destroy())
      assert.strictEqual(yield* tagOf("/orders", { body: {}, idempotencyKey: "once" }), "200")
      script.push(answering(404))
      assert.strictEqual(yield* tagOf("/missing"), "OutboundRejected", "another try would be answered the same")
      script.push(answering(500), answering(500), answering(500))
      assert.strictEqual(yield* tagOf("/broken"), "OutboundRejected")
      assert.deepStrictEqual(received.map(({ headers, path }) => [path, headers["idempotency-key"]]), [
        ...Array.from({ length: 3 }, () => ["/stock", undefined]),
        ["/orders", undefined],
        ["/orders", "once"],
        ["/orders", "once"],
        ["/missing", undefined],
        ...Array.from({ length: 3 }, () => ["/broken", undefined])
      ])
    }))

  it.live("wait as long as the service asks, and not longer than ten seconds", () =>
    Effect.gen(function*() {
      const { script, tagOf } = yield* started()
      script.push(answering(429, "", { "retry-after": "1" }))
      const { noting, waits } = notedWaits((milliseconds) => milliseconds === 1_000)
      assert.strictEqual(yield* noting(tagOf("/busy")), "200")
      assert.include(waits, 1_000)
      script.push(answering(429, "later", { "retry-after": "3600" }))
      assert.strictEqual(yield* tagOf("/busy"), "OutboundRejected")
    }))

  it.live("end after their time, and with answers that are too large or lead elsewhere", () =>
    Effect.gen(function*() {
      const hasty = yield* started({ timeout: 150, retries: 0 })
      const unanswered = (path: string) => Effect.flip(hasty.client.request({ url: `${hasty.origin}${path}` }))
      hasty.script.push(() => undefined)
      assert.deepInclude(yield* unanswered("/slow"), { _tag: "OutboundFailed", reason: "timeout" })
      hasty.script.push((response) => void response.writeHead(200).write("half"))
      assert.deepInclude(yield* unanswered("/half"), { _tag: "OutboundFailed", reason: "timeout" })
      const { client, origin, received, script } = yield* started({ maxBytes: 10, retries: 0 })
      const failure = (path: string) => Effect.flip(client.request({ url: `${origin}${path}` }))
      script.push(answering(200, "x".repeat(11)))
      assert.deepInclude(yield* failure("/large"), { _tag: "OutboundFailed", reason: "tooLarge" })
      script.push(answering(302, "", { location: `${origin}/secret` }))
      assert.deepInclude(yield* failure("/moved"), { _tag: "OutboundRejected", status: 302 })
      assert.strictEqual(received.length, 2)
    }))

  it.live("reach no internal address that the deployment has not configured", () =>
    Effect.gen(function*() {
      const { client, origin, received, tagOf } = yield* started({ origins: ["https://erp.example"] })
      assert.strictEqual(yield* tagOf("/"), "OutboundRefused")
      for (const url of ["http://169.254.169.254/latest", "http://localhost:1/", "file:///etc/passwd", "no url"]) {
        assert.strictEqual((yield* Effect.flip(client.request({ url })))._tag, "OutboundRefused", url)
      }
      assert.deepStrictEqual(received, [], origin)
    }))

  it.live("leave only the origin alone that keeps failing", () =>
    Effect.gen(function*() {
      const other = yield* serviceEmulator
      const { client, origin, script, tagOf } = yield* started({
        retries: 0,
        breaker: { failures: 1, pauseMs: 60_000 }
      })
      script.push(answering(500))
      assert.deepStrictEqual([yield* tagOf("/1"), yield* tagOf("/2")], ["OutboundRejected", "OutboundPaused"])
      const answers = outboundOver(yield* transport, { name: "stores", origins: [origin, other.origin], retries: 0 })
      assert.strictEqual((yield* answers.request({ url: other.origin })).status, 200)
      assert.strictEqual((yield* Effect.flip(client.request({ url: origin })))._tag, "OutboundPaused")
    }))

  it.live("leave a service alone that keeps failing, until one call finds it well", () =>
    Effect.gen(function*() {
      const { received, script, tagOf } = yield* started({ retries: 0, breaker: { failures: 2, pauseMs: 600_000 } })
      script.push(answering(404), answering(500), answering(404), answering(500), answering(503))
      for (const path of ["/1", "/2", "/3", "/4", "/5"]) assert.strictEqual(yield* tagOf(path), "OutboundRejected")
      assert.strictEqual(yield* tagOf("/6"), "OutboundPaused")
      assert.strictEqual(received.length, 5)
      script.push(answering(500))
      const afterwards = later(1_000_000)
      assert.deepStrictEqual(
        yield* Effect.all([tagOf("/7"), tagOf("/8")], { concurrency: 2 }).pipe(afterwards),
        ["OutboundRejected", "OutboundPaused"]
      )
      assert.strictEqual(yield* afterwards(tagOf("/9")), "OutboundPaused")
      const reached = Promise.withResolvers<void>()
      script.push(() => reached.resolve())
      const held = yield* Effect.forkChild(tagOf("/10").pipe(later(2_000_000)))
      yield* Effect.promise(() => reached.promise)
      yield* Fiber.interrupt(held)
      const again = Effect.all([tagOf("/11"), tagOf("/12")]).pipe(later(2_000_000))
      assert.deepStrictEqual(yield* again, ["200", "200"])
    }))
})

describe("a stream from another service", () => {
  const bytesOf = (stream: OutboundStream) =>
    Effect.map(Stream.runCollect(stream.body), (parts) => Buffer.concat(parts).toString("utf8"))

  it.live("has no limit of size and begins after a failure is tried again", () =>
    Effect.gen(function*() {
      const { client, origin, received, script } = yield* started({ maxBytes: 10 })
      const lines = `{"id":1}\n`.repeat(20_000)
      script.push(answering(503), answering(200, lines, { "x-cost": "3" }))
      const stream = yield* client.stream({ url: `${origin}/bulk` })
      assert.deepStrictEqual([stream.status, stream.headers["x-cost"]], [200, "3"])
      assert.strictEqual(yield* bytesOf(stream), lines)
      assert.strictEqual(received.length, 2)
    }))

  it.live("fails with what the service refused, and when it breaks off or stays silent", () =>
    Effect.gen(function*() {
      const { client, origin, script } = yield* started({ retries: 0, timeout: 150 })
      script.push(answering(403, "no"))
      const refused = yield* Effect.flip(client.stream({ url: origin }))
      assert.deepInclude(refused, { _tag: "OutboundRejected", status: 403, body: "no" })
      script.push((response) => void response.writeHead(200).write("half", () => response.destroy()))
      const broken = yield* Effect.flip(bytesOf(yield* client.stream({ url: origin })))
      assert.deepInclude(broken, { _tag: "OutboundFailed", reason: "noAnswer" })
      script.push((response) => void response.writeHead(200).write("half"))
      const silent = yield* Effect.flip(bytesOf(yield* client.stream({ url: origin })))
      assert.deepInclude(silent, { _tag: "OutboundFailed", reason: "timeout" })
    }))

  it.live("closes its connection with its scope", () =>
    Effect.gen(function*() {
      const { client, origin, script } = yield* started()
      const closed = Promise.withResolvers<void>()
      script.push((response) => {
        response.on("close", () => closed.resolve())
        response.writeHead(200).write("first")
      })
      yield* Effect.scoped(client.stream({ url: origin }))
      yield* Effect.promise(() => closed.promise)
    }))
})

class Erp extends Context.Service<Erp, Outbound>()("relay/Erp") {
  static readonly layer = Layer.effect(Erp, outbound({ name: "erp", retries: 0 }))
}

const relay = definePlugin({
  id: "relay",
  version: "1.0.0",
  permissions: [{ scope: "relay:use", description: "Ask the other service" }],
  layer: Erp.layer,
  routes: () => [
    group("Relay", "/relay").post("/", { permission: "relay:use", input: Schema.Struct({ url: Schema.String }) })
      .handle(({ input }) =>
        Erp.use(({ request }) =>
          Effect.match(request({ url: input.url }), {
            onFailure: ({ _tag }) => _tag,
            onSuccess: ({ body }) => body
          })
        )
      )
  ]
})

const options = { plugins: [relay], webhooks: { allowPrivateTargets: true } }

layer(testAppLayer(options), live)(
  "a plugin's client",
  (it) => {
    it.effect("has the guard of the process, which lets tests and developers call their machine", () =>
      Effect.gen(function*() {
        const { origin } = yield* serviceEmulator
        const ask = (url: string) =>
          Effect.map(api("POST", "/api/relay", { as: asAdmin, body: { url } }), (answer) => answer.at("data"))
        assert.deepStrictEqual([yield* ask(origin), yield* ask("ftp://example.com")], [
          `{"ok":true}`,
          "OutboundRefused"
        ])
      }))
  }
)
