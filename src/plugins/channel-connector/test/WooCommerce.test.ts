import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { inspect } from "node:util"
import { OutboundRejected } from "stoa/plugin"
import { webhookReceiver } from "../../../../test/support/WebhookReceiver.ts"
import { channelError, woocommerce } from "../index.ts"
import { adapterContract } from "../testing/AdapterContract.ts"
import { slice, wooTests } from "./WooShop.ts"

const test = wooTests()

const webhook = (id: string, body: string, topic = "product.updated") => ({
  body: Buffer.from(body),
  headers: {
    "x-wc-webhook-signature": createHmac("sha256", "webhook-secret").update(body).digest("base64"),
    "x-wc-webhook-delivery-id": id,
    "x-wc-webhook-topic": topic
  }
})

describe("the adapter of WooCommerce", () => {
  test("keeps the contract of adapters", ({ http, keys, shop }) =>
    Effect.promise(async () => {
      const [mug] = ["a", "b", "c"].map((sku) =>
        shop.catalog.create({ name: `Mug ${sku}`, sku, regular_price: "1.00" })
      )
      const checks = adapterContract({
        adapter: woocommerce,
        domain: shop.url,
        http,
        credentials: keys,
        webhookSecret: "webhook-secret",
        slice: () => slice(`${mug?.id}`),
        refusedCredentials: { consumerKey: "ck_wrong", consumerSecret: "cs_wrong" },
        secrets: ["ck_wrong", "cs_wrong", Buffer.from("ck_wrong:cs_wrong").toString("base64")],
        webhook: (id, body = `{"id":1}`) => webhook(id, body)
      })
      for (const { name, run } of checks) await run().catch((error) => assert.fail(`${name}: ${error}`))
    }))

  test(
    "tells two events of one second apart, and whose product they are about",
    ({ shop, webhooks }) =>
      Effect.gen(function*() {
        const receiver = yield* webhookReceiver()
        yield* webhooks.register("product.updated", receiver.url, undefined)
        const ping = receiver.received[0]
        assert.isFalse(webhooks.isGenuine({ headers: {}, body: Buffer.from(ping?.body ?? "") }), "a ping is not signed")
        const shirt = shop.catalog.create({ name: "Shirt", type: "variable" })
        shop.catalog.change(shirt.id, { name: "Shirt 1" })
        const small = shop.catalog.create({}, shirt.id)
        shop.catalog.change(small.id, { regular_price: "2.00" })
        yield* Effect.promise(() => shop.deliveries.settled())
        const sent = receiver.received.slice(1).map(({ body, headers }) => ({
          body: Buffer.from(body),
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
        }))
        assert.isTrue(sent.length >= 3 && sent.every((one) => webhooks.isGenuine(one)))
        const read = sent.map((one) => webhooks.read(one))
        assert.strictEqual(
          new Set(read.map((one) => one?.deliveryId)).size,
          new Set(receiver.received.slice(1).map(({ body }) => body)).size
        )
        for (const one of read) assert.deepStrictEqual(one?.hints, [{ kind: "product", externalId: `${shirt.id}` }])
        const order = webhooks.read(webhook("d", `{"id":7,"parent_id":5}`, "order.updated"))
        assert.deepStrictEqual(order?.hints, [{ kind: "order", externalId: "7" }])
        assert.deepStrictEqual(webhooks.read(webhook("d", `{"id":"8"}`, "product.deleted"))?.hints, [
          { kind: "product", externalId: "8" }
        ])
      }),
    { now: () => Date.parse("2026-11-30T10:00:00Z") }
  )

  test("turns a disabled webhook on again, with the secret of now", ({ shop, webhooks }) =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      yield* webhooks.register("product.created", receiver.url, undefined)
      receiver.react({ status: 500 })
      for (let n = 0; n < 5; n++) {
        shop.catalog.create({ name: `Mug ${n}` })
        yield* Effect.promise(() => shop.deliveries.settled())
      }
      const [before] = yield* webhooks.list
      assert.isFalse(before?.isActive)
      yield* Effect.promise(() => shop.webhooks.change(Number(before?.externalId), { secret: "another" }))
      yield* webhooks.register("product.created", receiver.url, before)
      const [after] = yield* webhooks.list
      assert.deepStrictEqual([after?.isActive, after?.externalId], [true, before?.externalId])
      shop.catalog.create({ name: "Mug" })
      yield* Effect.promise(() => shop.deliveries.settled())
      const last = receiver.received.at(-1)
      const signature = { "x-wc-webhook-signature": String(last?.headers["x-wc-webhook-signature"]) }
      assert.isTrue(webhooks.isGenuine({ headers: signature, body: Buffer.from(last?.body ?? "") }))
      yield* webhooks.unregister(after?.externalId ?? "")
      yield* webhooks.unregister(after?.externalId ?? "")
      assert.deepStrictEqual(yield* webhooks.list, [])
    }))

  test("waits as it is asked, and tells a store that is down from one that refuses", ({ connect, keys, shop, stock }) =>
    Effect.gen(function*() {
      const failing = (fault: "limit" | "break" | "drop") => {
        shop.fault("products", fault, 3)
        return Effect.flip(stock.read(["1"]))
      }
      assert.deepInclude(yield* failing("limit"), { _tag: "ChannelUnavailable", retryAfterMs: 1_000 })
      const late = {
        status: 429,
        headers: { "retry-after": "Wed, 02 Dec 2026 07:28:00 GMT" },
        body: "",
        message: "429"
      }
      assert.deepInclude(channelError(new OutboundRejected(late)), { retryAfterMs: 60_000 })
      shop.fault("products", "limit")
      assert.deepStrictEqual(yield* stock.read(["1"]), [])
      for (const fault of ["break", "drop"] as const) {
        assert.strictEqual((yield* failing(fault))._tag, "ChannelUnavailable")
        yield* stock.read(["1"])
      }
      const reading = yield* connect({ ...keys, consumerKey: shop.keys.readOnlyKey })
      const refused = yield* Effect.flip(
        reading.webhooks?.register("order.updated", "https://x.example", undefined) ?? Effect.void
      )
      assert.strictEqual(refused._tag, "CredentialsRefused")
      for (const secret of Object.values(keys)) assert.notInclude(inspect(refused), secret)
    }))

  test("takes nonsense for no answer", ({ connect, http, keys }) =>
    Effect.gen(function*() {
      for (const text of `<html>|null|[]|{}|[null]|[{"id":{}}]|{"id":1}|[{"id":1}]|{"value":""}`.split("|")) {
        const { catalog, orders, stock, webhooks } = yield* connect(keys, {
          ...http,
          request: () => Effect.succeed({ status: 200, headers: {}, body: text })
        })
        if (!catalog || !orders || !stock || !webhooks) return
        const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
          catalog.currency,
          catalog.page(null, 10),
          catalog.product("1"),
          stock.read(["1", "1/2"]),
          stock.set([{ externalId: "1", available: 1, expected: 0 }], "k"),
          orders.lookup("o"),
          orders.get("1"),
          orders.cancel("1"),
          webhooks.list
        ]
        for (const call of calls) {
          const tag = yield* Effect.match(call, { onSuccess: () => "none", onFailure: ({ _tag }) => _tag })
          assert.include(["none", "ChannelUnavailable", "ChannelRefused"], tag)
        }
        assert.strictEqual(
          (yield* Effect.flip(orders.push(slice("1"))))._tag,
          "ChannelUnavailable",
          "it may have taken it"
        )
      }
    }))
})
