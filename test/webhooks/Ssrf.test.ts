import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { createServer } from "node:net"
import { WebhookSender, WebhookSettings } from "../../src/domain/webhooks/WebhookSender.ts"
import { httpSender } from "../../src/layers/webhooks/HttpSender.ts"
import {
  HostResolver,
  specialPurpose,
  targetOf,
  type TargetPolicy,
  Unresolved
} from "../../src/layers/webhooks/TargetGuard.ts"
import { webhookReceiver } from "../support/WebhookReceiver.ts"
import { hostileUrls, internalAddresses, internalNames, publicAddresses } from "./HostileTargets.ts"
import { endpointAt, loopback } from "./WebhookWorld.ts"

const strict: TargetPolicy = { allowPrivate: false, allowHttp: true, ports: undefined }

/** A resolver with one answer per look-up; the last one is repeated. */
const saying = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  const resolver = Layer.succeed(HostResolver, {
    resolve: (host: string) =>
      Effect.suspend(() => {
        const answer = answers[Math.min(asked.length, answers.length - 1)] ?? []
        asked.push(host)
        return answer.length === 0 ? Effect.fail(new Unresolved({ message: "not found" })) : Effect.succeed(answer)
      })
  })
  return { asked, resolver }
}

const through = (policy: TargetPolicy, resolver: Layer.Layer<HostResolver>) =>
  Effect.provide(
    Effect.service(WebhookSender),
    Layer.provide(httpSender(policy), [resolver, WebhookSettings.layerOf()])
  )

const message = { id: "evt_1", type: "t", body: "{}" }

describe("the guard of webhooks", () => {
  it.live("the guard refuses to register hostile URLs and opens no connection to them", () =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      const urls = hostileUrls(receiver.port)
      assert.isAbove(new Set(urls).size, 300)
      // Every name resolves to this machine, so that the rules of names alone do not decide.
      const guard = yield* through(strict, saying(["127.0.0.1"]).resolver)
      const passed = yield* Effect.forEach(urls, (url) =>
        Effect.gen(function*() {
          const admitted = yield* Effect.result(guard.admit(url))
          const { isRefused } = yield* guard.send(endpointAt(url), message)
          return Result.isSuccess(admitted) || !isRefused ? [url] : []
        }))
      assert.deepStrictEqual(passed.flat(), [])
      assert.strictEqual(receiver.connections(), 0)
    }))

  it.live("the same message reaches the receiver if the policy allows it", () =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      const guard = yield* through(loopback, saying(["127.0.0.1"]).resolver)
      yield* guard.admit(receiver.url)
      assert.strictEqual((yield* guard.send(endpointAt(receiver.url), message)).statusCode, 204)
      yield* guard.send(endpointAt(`http://shop.example:${receiver.port}/hook`), message)
      assert.strictEqual(receiver.connections(), 2)
      assert.strictEqual(receiver.received[1]?.headers.host, `shop.example:${receiver.port}`)
    }))

  it.live("the guard refuses at the delivery a name that was public at the registration", () =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      const url = `http://rebind.example:${receiver.port}/hook`
      const guard = yield* through(strict, saying(["8.8.8.8"], ["127.0.0.1"]).resolver)
      yield* guard.admit(url)
      assert.isTrue((yield* guard.send(endpointAt(url), message)).isRefused)
      assert.strictEqual(receiver.connections(), 0)
    }))

  it.live("a delivery resolves its host once and connects to the result", () =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      // A second look-up would lead to an unused address.
      const { asked, resolver } = saying(["127.0.0.1"], ["192.0.2.1"])
      const guard = yield* through(loopback, resolver)
      yield* guard.send(endpointAt(`http://once.example:${receiver.port}/hook`), message)
      assert.deepStrictEqual(asked, ["once.example"])
      assert.strictEqual(receiver.connections(), 1)
    }))

  it.live("the guard refuses a name if one of its addresses is internal", () =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      for (const internal of [...internalAddresses, "fe80::1%eth0", "not an address"]) {
        const guard = yield* through(strict, saying(["8.8.8.8", "2606:4700:4700::1111", internal]).resolver)
        const url = `http://several.example:${receiver.port}/`
        assert.strictEqual((yield* Effect.flip(guard.admit(url)))._tag, "TargetRefused", internal)
        assert.isTrue((yield* guard.send(endpointAt(url), message)).isRefused, internal)
      }
      assert.strictEqual(receiver.connections(), 0)
    }))

  it.live("a connection over TLS names the host and not the address", () =>
    Effect.gen(function*() {
      const hellos: Array<string> = []
      const server = createServer((socket) => {
        socket.on("error", () => undefined)
        socket.once("data", (hello) => {
          hellos.push(hello.toString("latin1"))
          socket.destroy()
        })
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => server.close())
      )
      const { port } = Object(server.address())
      const guard = yield* through(loopback, saying(["127.0.0.1"]).resolver)
      assert.isNull((yield* guard.send(endpointAt(`https://shop.example:${port}/`), message)).statusCode)
      assert.lengthOf(hellos, 1)
      assert.include(hellos[0], "shop.example")
    }))

  it.live("a delivery follows no redirect to an internal address", () =>
    Effect.gen(function*() {
      const [front, behind] = [yield* webhookReceiver(), yield* webhookReceiver()]
      const guard = yield* through(loopback, HostResolver.system)
      for (const status of [301, 302, 303, 307, 308]) {
        front.react({ status, headers: { location: behind.url } })
        assert.strictEqual((yield* guard.send(endpointAt(front.url), message)).statusCode, status)
      }
      assert.strictEqual(behind.connections(), 0)
    }))

  it.live("the guard accepts the registration of a host that cannot be resolved now", () =>
    Effect.gen(function*() {
      const guard = yield* through(strict, saying([]).resolver)
      yield* guard.admit("https://soon.example/hook")
      assert.include(yield* guard.send(endpointAt("https://soon.example/hook"), message), {
        error: "not found",
        isRefused: false
      })
    }))

  it.effect("the special ranges contain every internal address and no public one beside them", () =>
    Effect.sync(() => {
      assert.deepStrictEqual(internalAddresses.filter((address) => specialPurpose(address) === undefined), [])
      assert.deepStrictEqual(publicAddresses.filter((address) => specialPurpose(address) !== undefined), [])
    }))

  it.effect("the guard refuses names of internal hosts without resolving them", () =>
    Effect.sync(() => {
      const passed = internalNames.filter((name) => typeof targetOf(`https://${name}/`, strict) !== "string")
      assert.deepStrictEqual(passed, [])
      for (const name of ["example.com", "localhost.example.com", "local.example", "internal.shop.example"]) {
        assert.isObject(targetOf(`https://${name}/`, strict))
      }
    }))

  it.effect("the guard accepts https only in production, and only the allowed ports", () =>
    Effect.sync(() => {
      const production: TargetPolicy = { allowPrivate: false, allowHttp: false, ports: [443, 8443] }
      const reason = (url: string) => {
        const target = targetOf(url, production)
        return typeof target === "string" ? target : `port ${target.port}`
      }
      assert.strictEqual(reason("http://example.com/"), "must begin with https://.")
      assert.strictEqual(reason("https://example.com/"), "port 443")
      assert.strictEqual(reason("https://example.com:8443/"), "port 8443")
      assert.strictEqual(reason("https://example.com:22/"), "must not use port 22.")
      for (const user of ["user", "user:password", ":password", "example.com"]) {
        assert.strictEqual(reason(`https://${user}@example.com/`), "must not hold a user name or a password.")
      }
    }))
})
