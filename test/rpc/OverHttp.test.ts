import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { StoaRpc } from "../../src/client/rpc/StoaRpc.ts"
import { api, TestApp, withApp } from "../support/TestApp.ts"
import { callMetrics } from "./Calls.ts"

const key = { "x-api-key": "dev-admin-key" }

const request = (tag: string, payload: unknown, id: number | string = 1) => ({
  _tag: "Request",
  id,
  tag,
  payload,
  headers: []
})

const clientOver = (batchWindow?: number) =>
  Effect.gen(function*() {
    const { url } = yield* TestApp
    const connection = { url, apiKey: "dev-admin-key", ...(batchWindow === undefined ? {} : { batchWindow }) }
    return Context.get(yield* Layer.build(Layer.fresh(StoaRpc.layerHttp(connection))), StoaRpc)
  })

withApp("calls over HTTP", (it) => {
  it.effect("are answered with the same typed values and errors, one by one or together", () =>
    Effect.gen(function*() {
      const rpc = yield* clientOver()
      const made = yield* rpc["catalog.create"]({ type: "product", slug: "over-http" })
      assert.strictEqual((yield* rpc["catalog.read"]({ idOrSlug: "over-http" })).id, made.id)
      const taken = yield* Effect.flip(rpc["catalog.create"]({ type: "product", slug: "over-http" }))
      assert.strictEqual(taken._tag, "Conflict")
      const batched = yield* clientOver(20)
      const read = batched["catalog.read"]({ idOrSlug: "over-http" })
      const all = yield* Effect.all(Array.from({ length: 30 }, () => read), { concurrency: "unbounded" })
      assert.deepStrictEqual(new Set(all.map(({ id }) => id)), new Set([made.id]))
    }))

  it.effect("are JSON that any program can send", () =>
    Effect.gen(function*() {
      const answer = yield* api("POST", "/rpc", {
        headers: key,
        body: [request("inventory.check", { entityIds: [] }, 1), request("catalog.read", { idOrSlug: "none" }, 2)]
      })
      assert.strictEqual(answer.status, 200)
      const recorded = (Array.isArray(answer.body) ? answer.body : []).map((one) => JSON.stringify(one))
      assert.isTrue(recorded.some((text) => text.includes(`"exit":{"_tag":"Success","value":{}}`)))
      assert.isTrue(recorded.some((text) => text.includes(`"_tag":"NotFound"`)))
      assert.isOk(answer.headers.get("x-ratelimit-remaining"))
      assert.isOk(answer.headers.get("x-request-id"))
    }))

  it.effect("give no streams", () =>
    Effect.gen(function*() {
      const rpc = yield* clientOver()
      const refused = yield* Effect.flip(Stream.runDrain(rpc["events.tail"]({})))
      assert.strictEqual(refused._tag, "ValidationFailed")
    }))

  it.effect("are refused with the envelope of every other route", () =>
    Effect.gen(function*() {
      const bad = ["not json", "[1]", "{}", [request("catalog.list", {}), 5], Array.from({ length: 101 }, () => ({}))]
      for (const body of bad) {
        const answer = yield* api("POST", "/rpc", { headers: { ...key, "content-type": "application/json" }, body })
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [400, "BAD_REQUEST"])
      }
      const large = yield* api("POST", "/rpc", { headers: key, body: "x".repeat(1_048_577) })
      assert.deepStrictEqual([large.status, large.at("error.code")], [413, "PAYLOAD_TOO_LARGE"])
      const put = yield* api("PUT", "/rpc", { headers: key, body: {} })
      assert.deepStrictEqual([put.status, put.headers.get("allow")], [405, "GET, HEAD, POST"])
      const get = yield* api("GET", "/rpc", { headers: key })
      assert.deepStrictEqual([get.status, get.at("error.code")], [426, "UPGRADE_REQUIRED"])
    }))

  it.effect("are counted beside requests", () =>
    Effect.gen(function*() {
      const rpc = yield* clientOver()
      yield* rpc["catalog.list"]({})
      const metrics = yield* callMetrics
      assert.match(metrics, /stoa_rpc_calls_total\{call="catalog.list",outcome="ok"\} \d+/)
      assert.match(metrics, /stoa_rpc_call_duration_seconds_count\{call="catalog.list"\} \d+/)
      assert.match(metrics, /stoa_rpc_connections \d+/)
    }))
})
