import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, live, TestApp, testAppLayer, withApp } from "../support/TestApp.ts"
import { callMetrics, clientAs, socketUrl } from "./Calls.ts"
import { as, rawSocket, unread } from "./RawSocket.ts"

const request = (fields: object) =>
  `${JSON.stringify({ _tag: "Request", id: 1, tag: "catalog.list", payload: {}, headers: [], ...fields })}\n`

/** Invalid messages; none may affect more than its socket. */
const hostile: Readonly<Record<string, string>> = {
  "no JSON": "hello\n",
  "null": "null\n",
  "a number": "17\n",
  "an array": "[1,2,3]\n",
  "no tag": "{}\n",
  "an unknown message": `{"_tag":"Explode"}\n`,
  "a tag that is a property of objects": `{"_tag":"__proto__"}\n`,
  "a call without headers": request({ headers: undefined }),
  "headers that are a text": request({ headers: "x-api-key" }),
  "headers that are no pairs": request({ headers: [["x"]] }),
  "headers of numbers": request({ headers: [[1, 2]] }),
  "very many headers": request({ headers: Array.from({ length: 1_000 }, (_, index) => [`h-${index}`, "v"]) }),
  "an id that is an object": request({ id: {} }),
  "a very long id": request({ id: "x".repeat(1_000) }),
  "half a trace": request({ spanId: "1234" }),
  "a trace of numbers": request({ traceId: 1, spanId: 2, sampled: 3 }),
  "a call that wants no answer": request({ isNotification: true }),
  "a call that is not waited for": request({ discard: true }),
  "an acknowledgement of nothing": `{"_tag":"Ack","requestId":"none"}\n`,
  "an interruption of nothing": `{"_tag":"Interrupt","requestId":"none"}\n`,
  "an unknown call": request({ tag: "store.burn" }),
  "a call named like a method": request({ tag: "constructor" }),
  "the end, and then more": `{"_tag":"Eof"}\n${request({})}`,
  "one id twice": request({ id: 7, tag: "orders.list" }) + request({ id: 7, tag: "orders.list" }),
  "a deeply nested payload": request({ payload: "@" }).replace("\"@\"", `${"[".repeat(200_000)}${"]".repeat(200_000)}`)
}

/** How many entities were read so far. */
const answeredReads = Effect.map(
  callMetrics,
  (text) => Number(/stoa_rpc_calls_total\{call="catalog.read",outcome="ok"\} (\d+)/.exec(text)?.[1] ?? 0)
)

withApp("a hostile client", (it) => {
  it.effect("harms no other connection and no process", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const otherTenant = yield* clientAs(asAdmin)
      for (const [name, text] of Object.entries(hostile)) {
        const socket = yield* rawSocket
        socket.send(text)
        assert.strictEqual((yield* otherTenant["catalog.read"]({ idOrSlug: entityId })).id, entityId, name)
        const own = yield* Effect.forkChild(
          Effect.raceFirst(socket.call("catalog.list", {}, as(asAdmin)), socket.closed)
        )
        yield* eventually(`${name} to be answered or closed`, Effect.sync(() => own.pollUnsafe() !== undefined))
        socket.close()
      }
      assert.strictEqual((yield* api("GET", "/api/health")).status, 200)
    }))

  it.effect("gets a defect for an unknown call, and other calls go on", () =>
    Effect.gen(function*() {
      const socket = yield* rawSocket
      assert.deepInclude(yield* socket.call("store.burn", {}, as(asAdmin)), { ok: false, error: "Die" })
      assert.isTrue((yield* socket.call("catalog.list", {}, as(asAdmin))).ok)
    }))

  it.effect("makes no call that waits for no answer, names half a trace or has too many headers", () =>
    Effect.gen(function*() {
      const socket = yield* rawSocket
      const headers = Object.entries(as(asAdmin))
      const call = { tag: "catalog.create", payload: { type: "product", slug: "never-created" }, headers }
      const many = Array.from({ length: 51 }, (_, index) => [`h-${index}`, "v"])
      const refused = [{ discard: true }, { isNotification: true }, { spanId: "1234" }, {
        headers: many.concat(headers)
      }]
      for (const fields of refused) socket.send(request({ ...call, ...fields }))
      const read = yield* socket.call("catalog.read", { idOrSlug: "never-created" }, as(asAdmin))
      assert.strictEqual(read.error, "NotFound")
      assert.deepStrictEqual(socket.frames.map(({ _tag }) => _tag), refused.map(() => "Defect"))
    }))

  it.effect("loses the socket for a message that is too large, at once or never ended", () =>
    Effect.gen(function*() {
      const otherTenant = yield* clientAs(asAdmin)
      const large = yield* rawSocket
      large.send(request({ payload: "x".repeat(1_100_000) }))
      assert.strictEqual(yield* large.closed, 1009)
      const endless = yield* rawSocket
      for (let piece = 0; piece < 6; piece++) endless.send("y".repeat(200_000))
      assert.strictEqual(yield* endless.closed, 1009)
      const binary = yield* rawSocket
      binary.send(new Uint8Array(1_048_577))
      assert.strictEqual(yield* binary.closed, 1009)
      assert.strictEqual((yield* otherTenant["catalog.list"]({})).page, 1)
    }))

  it.effect("that reads no answers is not read from either, and takes no memory", () =>
    Effect.gen(function*() {
      const idOrSlug = yield* aProduct()
      // Few answers of this size fill what the system keeps for a reader.
      yield* onDatabase((sql) =>
        sql`update catalog_entities set metadata = jsonb_build_object('text', repeat('x', 100000))
          where id = ${idOrSlug}::uuid`
      )
      const socket = yield* unread(Number(new URL((yield* TestApp).url).port))
      const headers = Object.entries(as(asAdmin))
      const calls = 2_000
      /** A call of 4,000 bytes as a frame with a mask of zeros. */
      const frame = (id: number) => {
        const call = request({ id: String(id), tag: "catalog.read", headers, payload: { idOrSlug } })
        const text = Buffer.from(`${call.trimEnd().padEnd(3_999)}\n`)
        return Buffer.concat([Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 255, 0, 0, 0, 0]), text])
      }
      const before = yield* answeredReads
      for (let call = 0; call < calls; call++) socket.write(frame(call))
      const beside = yield* clientAs(asAdmin)
      const answered = yield* eventually(
        "its calls to be left unread while others are answered",
        Effect.gen(function*() {
          const seen = yield* answeredReads
          for (let call = 0; call < 20; call++) yield* Effect.orDie(beside["catalog.list"]({}))
          return seen > before && (yield* answeredReads) === seen && seen - before
        })
      )
      assert.isBelow(answered, calls / 2)
      assert.strictEqual((yield* api("GET", "/api/health")).status, 200)
    }))
})

layer(testAppLayer({ server: { rpc: { connections: 6, unknownPerAddress: 3, unknownMs: 3_000 } } }), live)(
  "sockets",
  (it) => {
    it.effect("are closed when no key was shown, and one address has few of those", () =>
      Effect.gen(function*() {
        const url = yield* socketUrl
        const open = yield* Effect.all([rawSocket, rawSocket, rawSocket])
        const refused = yield* Effect.promise(() =>
          fetch(url.replace(/^ws/, "http"), { headers: { upgrade: "websocket", connection: "upgrade" } }).then(
            ({ status }) => status,
            () => 429
          )
        )
        assert.strictEqual(refused, 429)
        for (const socket of open) assert.strictEqual(yield* socket.closed, 1008)
        // Another socket is admitted again, and one with a key stays.
        const known = yield* rawSocket
        assert.isTrue((yield* known.call("catalog.list", {}, as(asAdmin))).ok)
        const later = yield* rawSocket
        assert.strictEqual(yield* later.closed, 1008)
        assert.isTrue(known.isOpen())
      }))

    it.effect("are only so many in all", () =>
      Effect.gen(function*() {
        for (let count = 0; count < 6; count++) {
          const socket = yield* rawSocket
          assert.isTrue((yield* socket.call("catalog.list", {}, as(asAdmin))).ok)
        }
        const seventh = yield* Effect.exit(rawSocket)
        assert.strictEqual(seventh._tag, "Failure")
        assert.strictEqual((yield* api("GET", "/api/health")).status, 200)
      }))
  }
)
