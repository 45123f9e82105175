import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { PictureHosts } from "../../src/domain/media/ExternalPictures.ts"
import { guardedPictures } from "../../src/layers/media/MediaAdapters.ts"
import { HostResolver, type TargetPolicy, Unresolved } from "../../src/layers/webhooks/TargetGuard.ts"
import { eventually } from "../support/Eventually.ts"
import { pictureHost } from "../support/PictureHost.ts"
import { hostileUrls } from "../webhooks/HostileTargets.ts"

/** Resolves every name to this machine, except an unknown one; counts the look-ups. */
const names = () => {
  const asked: Array<string> = []
  const resolver = Layer.succeed(HostResolver, {
    resolve: (host: string) =>
      Effect.suspend(() => {
        asked.push(host)
        return host === "unknown.example"
          ? Effect.fail(new Unresolved({ message: "was not found" }))
          : Effect.succeed(["127.0.0.1"])
      })
  })
  return { asked, resolver }
}

const anywhere: TargetPolicy = { allowPrivate: true, allowHttp: true, ports: undefined }

/** The size of a fetched file, or the error with its message. */
const fetched = (url: string, policy: TargetPolicy = anywhere, resolver = names().resolver) =>
  Effect.flatMap(
    PictureHosts,
    (hosts) =>
      Effect.flatMap(hosts.fetch(url, 10_000), (bytes) =>
        Stream.runFold(bytes, () => 0, (sum, part) => sum + part.length))
  )
    .pipe(
      Effect.scoped,
      Effect.catch(({ _tag, message }) =>
        Effect.succeed(`${_tag}: ${message}`)
      ),
      Effect.provide(Layer.provide(guardedPictures(policy), resolver))
    )

const bytes = new Uint8Array(500)

describe("the way out to hosts of pictures", () => {
  it.live("the guard opens no connection to hostile addresses, with any resolution of their names", () =>
    Effect.gen(function*() {
      const host = yield* pictureHost
      const strict: TargetPolicy = { ...anywhere, allowPrivate: false }
      const urls = hostileUrls(host.port)
      const ends = yield* Effect.forEach(urls, (url) => fetched(url, strict), { concurrency: 8 })
      assert.isAbove(urls.length, 300)
      assert.deepStrictEqual(ends.filter((end) => typeof end === "number" || !end.startsWith("PictureRefused")), [])
      // A name that anybody could have, and what it stands for at the moment is this machine.
      const turned = yield* fetched(`http://shop.example:${host.port}/a.png`, strict)
      assert.match(String(turned), /^PictureRefused: Its address must not lead to an internal address/)
      assert.strictEqual(host.connections(), 0)
    }).pipe(Effect.scoped))

  it.live("every redirect is checked and resolved like the first address", () =>
    Effect.gen(function*() {
      const [host, inside] = [yield* pictureHost, yield* pictureHost]
      host.put("/a", { redirect: `http://cdn.example:${host.port}/b` })
      host.put("/b", { redirect: "c" })
      host.put("/c", { bytes })
      host.put("/port", { redirect: `http://cdn.example:${inside.port}/a` })
      host.put("/user", { redirect: `http://me:secret@cdn.example:${host.port}/c` })
      host.put("/unknown", { redirect: `http://unknown.example:${host.port}/c` })
      inside.put("/a", { bytes })
      const policy: TargetPolicy = { ...anywhere, ports: [host.port] }
      const from = (path: string, resolver = names().resolver) =>
        fetched(`http://shop.example:${host.port}/${path}`, policy, resolver)
      const { asked, resolver } = names()
      assert.deepStrictEqual([yield* from("a", resolver), asked], [500, ["shop.example", "cdn.example", "cdn.example"]])
      assert.strictEqual(yield* from("port"), `PictureRefused: Its address must not use port ${inside.port}.`)
      assert.strictEqual(yield* from("user"), "PictureRefused: Its address must not hold a user name or a password.")
      assert.strictEqual(yield* from("unknown"), "PictureDelayed: was not found")
      assert.strictEqual(inside.connections(), 0)
      yield* eventually("all connections to be closed", Effect.sync(() => host.open() === 0))
      assert.deepStrictEqual(
        new Set(host.asked.map(({ headers }) => headers.cookie ?? headers.authorization)),
        new Set([undefined])
      )
    }).pipe(Effect.scoped))

  it.live("permanent and temporary failures are different errors", () =>
    Effect.gen(function*() {
      const host = yield* pictureHost
      const statuses = { Refused: [401, 404, 410, 204, 304], Delayed: [408, 429, 500, 503] }
      for (const [end, answers] of Object.entries(statuses)) {
        for (const status of answers) {
          host.put("/x", { status })
          assert.strictEqual(yield* fetched(`${host.url}/x`), `Picture${end}: Its host answered with ${status}.`)
        }
      }
      host.put("/torn", "torn")
      assert.strictEqual(yield* fetched(`${host.url}/torn`), "PictureDelayed: Its host broke off in the middle.")
      host.put("/large", { announced: 10_001 })
      assert.strictEqual(yield* fetched(`${host.url}/large`), "PictureRefused: It is larger than 10000 bytes.")
    }).pipe(Effect.scoped))

  it.live("an interrupted fetch closes its connection", () =>
    Effect.gen(function*() {
      const host = yield* pictureHost
      host.put("/hang", "hang")
      const waiting = yield* Effect.forkChild(fetched(`${host.url}/hang`))
      yield* eventually("the request", Effect.sync(() => host.asked.length === 1))
      yield* Fiber.interrupt(waiting)
      yield* eventually("the connection to be closed", Effect.sync(() => host.open() === 0))
    }).pipe(Effect.scoped))
})
