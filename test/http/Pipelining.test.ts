import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { gunzipSync } from "node:zlib"
import { api, TestApp, withApp } from "../support/TestApp.ts"

/** What comes back for bytes on a connection until the other side ends it. */
const sentRaw = (url: string, bytes: string) =>
  Effect.promise(() =>
    new Promise<Buffer>((resolve) => {
      const { hostname, port } = new URL(url)
      const parts: Array<Buffer> = []
      const socket = connect(Number(port), hostname, () => socket.write(bytes))
      socket.on("data", (part) => parts.push(part))
      // A connection cut off while it sends reports an error.
      socket.on("error", () => undefined)
      socket.on("close", () => resolve(Buffer.concat(parts)))
    })
  )

const get = (path: string, ...headers: ReadonlyArray<string>) =>
  [`GET ${path} HTTP/1.1`, "Host: localhost", ...headers, "", ""].join("\r\n")

const last = "Connection: close"

const partsOf = (answer: Buffer) => {
  const end = answer.indexOf("\r\n\r\n")
  return { head: answer.subarray(0, end).toString().toLowerCase(), body: answer.subarray(end + 4) }
}

withApp("the document over the wire", (it) => {
  it.effect("is compressed for who takes it, and the same for who does not", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      const plain = partsOf(yield* sentRaw(url, get("/api/doc", last)))
      const packed = partsOf(yield* sentRaw(url, get("/api/doc", "Accept-Encoding: br, gzip;q=0.5", last)))
      const refused = partsOf(yield* sentRaw(url, get("/api/doc", "Accept-Encoding: gzip;q=0", last)))
      assert.include(packed.head, "content-encoding: gzip")
      assert.match(packed.head, /vary: origin, accept-encoding/)
      assert.notInclude(plain.head, "content-encoding")
      assert.notInclude(refused.head, "content-encoding")
      assert.isBelow(packed.body.length, plain.body.length / 5)
      assert.isTrue(gunzipSync(packed.body).equals(plain.body))
    }))

  it.effect("is not sent again to who has it", () =>
    Effect.gen(function*() {
      const first = yield* api("GET", "/api/doc")
      const etag = first.headers.get("etag") ?? ""
      assert.match(first.headers.get("cache-control") ?? "", /max-age=\d+/)
      const again = yield* api("GET", "/api/doc", { headers: { "if-none-match": `"other", ${etag}` } })
      assert.deepStrictEqual([again.status, again.body, again.headers.get("etag")], [304, "", etag])
      assert.strictEqual((yield* api("GET", "/api/doc", { headers: { "if-none-match": "\"other\"" } })).status, 200)
    }))
})

withApp("a connection", (it) => {
  it.effect("is closed when it has thousands of requests unanswered, and others are answered meanwhile", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      const flood = sentRaw(url, get("/api/doc").repeat(6_000) + get("/api/doc", last))
      const [received, health] = yield* Effect.all([flood, api("GET", "/api/health")], { concurrency: "unbounded" })
      assert.strictEqual(health.status, 200)
      assert.isAtMost(received.toString("latin1").split("HTTP/1.1 200").length - 1, 32)
    }))

  it.effect("may send some requests ahead of their answers", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      const received = yield* sentRaw(url, get("/api/health").repeat(20) + get("/api/health", last))
      assert.strictEqual(received.toString("latin1").split("HTTP/1.1 200").length - 1, 21)
    }))
})
