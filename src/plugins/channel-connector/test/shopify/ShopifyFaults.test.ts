import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type Outbound, OutboundRejected } from "stoa/plugin"
import { addMug, catalogOf, given, logged, sliceOf, storeTest } from "./ShopifyStore.ts"

const start = Date.parse("2026-11-30T10:00:00Z")
const clock = { now: start }

describe("a Shopify store that fails", () => {
  storeTest(
    "to collect products, or lost them, does it again without groups",
    ({ channel, shop }) =>
      Effect.gen(function*() {
        for (const n of [1, 2, 3, 4, 5]) {
          shop.catalog.add({
            title: `Mug ${n}`,
            images: [`https://cdn.example/${n}.png`],
            options: [{ name: "Size", values: ["S", "L"] }],
            variants: [{ options: ["S"], price: 1 }, { options: ["L"], price: 2, image: "https://cdn.example/l.png" }]
          })
        }
        const expected = (yield* catalogOf(channel, 100)).flat()
        shop.bulk.fails = "TIMEOUT"
        const pages = yield* catalogOf(channel, 2)
        assert.deepStrictEqual(pages.map(({ length }) => length), [2, 2, 1])
        assert.deepStrictEqual(pages.flat(), expected)
        assert.include(shop.calls.findLast(({ body }) => body.includes("RunQuery"))?.body, `"isGrouped":false`)

        const { page } = given(channel.catalog)
        for (const isExpired of [true, false]) {
          const { nextCursor } = yield* page((yield* page(null, 2)).nextCursor, 2)
          if (isExpired) shop.bulk.expire()
          shop.bulk.keepsFiles = isExpired
          const again = yield* page(nextCursor, 2)
          shop.bulk.keepsFiles = true
          shop.fault("GET /bulk", "break")
          assert.strictEqual((yield* Effect.flip(page(again.nextCursor, 2)))._tag, "ChannelUnavailable")
          assert.deepStrictEqual((yield* page(again.nextCursor, 100)).items, expected)
        }
      })
  )

  storeTest("to collect products again and again is not asked for ever", ({ channel, shop }) =>
    Effect.gen(function*() {
      const { page } = given(channel.catalog)
      let cursor: string | null = null
      for (let n = 0; n < 5; n++) {
        shop.bulk.fails = "INTERNAL_SERVER_ERROR"
        cursor = (yield* page(cursor, 10)).nextCursor
      }
      shop.bulk.fails = "INTERNAL_SERVER_ERROR"
      assert.strictEqual((yield* Effect.flip(page(cursor, 10)))._tag, "ChannelRefused")
    }))

  storeTest("because of its limit is asked again later", ({ channel, shop }) =>
    Effect.gen(function*() {
      const { id } = addMug(shop, 5)
      const { read } = given(channel.stock)
      const { bucket } = shop
      Object.assign(bucket, { maximum: 1_000, perSecond: 1_000 })
      bucket.take(bucket.status().currentlyAvailable)
      assert.deepStrictEqual(yield* read([id]), [{ externalId: id, available: 5 }])
      shop.fault("graphql", "limit", 2)
      assert.deepStrictEqual(yield* read([id]), [{ externalId: id, available: 5 }])
      // Longer than an adapter waits: for the caller.
      bucket.perSecond = 0.01
      bucket.take(bucket.status().currentlyAvailable)
      const error = yield* Effect.flip(read([id]))
      assert.deepInclude(error, { _tag: "ChannelUnavailable", retryAfterMs: 60_000 })
    }))

  storeTest(
    "because of its limit lets many calls at once wait for their turn",
    ({ channel, shop }) =>
      Effect.gen(function*() {
        const { id } = addMug(shop).product
        const { product } = given(channel.catalog)
        Object.assign(shop.bucket, { maximum: 1_000, perSecond: 2_000 })
        const ids = Array.from({ length: 40 }, () => String(id))
        const found = yield* Effect.forEach(ids, product, { concurrency: 20 })
        assert.lengthOf(found, ids.length)
      })
  )

  storeTest(
    "with tokens that end every minute gets the next one each time",
    ({ app, connect, shop }) =>
      Effect.gen(function*() {
        shop.tokens.seconds = 60
        const { clientId: client_id, clientSecret: client_secret } = shop.tokens
        const query = `client_id=${client_id}&redirect_uri=http://stoa.example/back`
        const consent = yield* Effect.promise(() =>
          fetch(`${shop.url}/admin/oauth/authorize?${query}`, { redirect: "manual" })
        )
        const code = new URL(consent.headers.get("location") ?? "").searchParams.get("code")
        const granted = shop.tokens.grant({
          method: "POST",
          path: "",
          query: new URLSearchParams(),
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ client_id, client_secret, code, expiring: "1" })
        })
        const { access_token: accessToken, refresh_token: refreshToken } = JSON.parse(JSON.stringify(granted.body))
        let credentials: unknown = { accessToken, refreshToken }
        for (let minute = 0; minute < 5; minute++) {
          const channel = yield* connect(Object(credentials))
          yield* channel.verify
          clock.now += 60_000
          assert.strictEqual((yield* Effect.flip(channel.verify))._tag, "CredentialsRefused")
          credentials = yield* given(channel.renew)
        }
        const custom = yield* connect({ clientId: app.clientId, clientSecret: client_secret })
        assert.strictEqual((yield* Effect.flip(custom.verify))._tag, "CredentialsRefused")
        // Answers without a token.
        shop.fault("access_token", "limit")
        assert.strictEqual((yield* Effect.flip(given(custom.renew)))._tag, "ChannelUnavailable")
        yield* (yield* connect(Object(yield* given(custom.renew)))).verify
      }),
    { now: () => clock.now }
  )

  storeTest("to serve a version of its API raises one warning", ({ connect, shop }) =>
    Effect.gen(function*() {
      const { layer, lines } = logged()
      const old = yield* connect({ accessToken: shop.tokens.permanent }, { version: "2025-10" })
      yield* Effect.provide(Effect.all([old.verify, old.verify]), layer)
      assert.deepStrictEqual(lines, [
        `${shop.url} answers with version 2026-01 of the Shopify API, not with 2025-10.`
      ])
      const future = yield* connect({ accessToken: shop.tokens.permanent }, { version: "2030-01" })
      assert.strictEqual((yield* Effect.flip(future.verify))._tag, "ChannelRefused")
    }))

  storeTest("while it is frozen or locked has not refused anything", ({ connect, http }) =>
    Effect.gen(function*() {
      for (const status of [402, 423]) {
        const error = new OutboundRejected({ status, headers: {}, body: "", message: `The store answered ${status}.` })
        const calls: Outbound = { ...http, request: () => error, json: () => error }
        const { orders, renew } = yield* connect({ accessToken: "shpat_secret", refreshToken: "shprt_secret" }, {
          calls
        })
        for (const work of [given(orders).push(sliceOf("1")), given(renew)]) {
          assert.strictEqual((yield* Effect.flip(work))._tag, "ChannelUnavailable")
        }
      }
    }))

  storeTest("with nonsense has not refused anything", ({ connect, http, shop }) =>
    Effect.gen(function*() {
      addMug(shop)
      const unmade = [`{"order":null,"userErrors":[]}`, `{"order":{"id":7},"userErrors":[]}`]
      const broken = [
        "",
        "<html></html>",
        "[]",
        "null",
        "{}",
        `{"data":null}`,
        `{"data":{}}`,
        `{"data":[]}`,
        `{"errors":[]}`
      ]
      const bodies = [
        ...broken,
        `{"errors":[{"message":"Internal error","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}`,
        ...unmade.map((done) => `{"data":{"done":${done}}}`)
      ]
      for (const body of bodies) {
        const calls: Outbound = { ...http, request: () => Effect.succeed({ status: 200, headers: {}, body }) }
        const channel = yield* connect({ accessToken: "shpat_secret" }, { calls })
        const { catalog, orders, stock, webhooks } = channel
        const works = [
          channel.verify,
          given(catalog).page(null, 1),
          given(catalog).page("0:0:1", 1),
          given(catalog).product("1"),
          given(stock).read(["1"]),
          given(stock).set([{ externalId: "1", available: 1, expected: 2 }], "key"),
          given(orders).push(sliceOf("1")),
          given(orders).lookup("1"),
          given(orders).get("1"),
          ...body.includes("userErrors") ? [] : [given(orders).cancel("1")],
          given(webhooks).list
        ]
        for (const work of works) assert.strictEqual((yield* Effect.flip(work))._tag, "ChannelUnavailable", body)
      }
      const { catalog } = yield* connect({ accessToken: shop.tokens.permanent }, {
        calls: {
          ...http,
          stream: (request) =>
            Effect.map(
              http.stream(request),
              (answer) => ({ ...answer, body: Stream.make(Buffer.from("{\"id\":\n")) })
            )
        }
      })
      const { nextCursor } = yield* given(catalog).page(null, 1)
      assert.strictEqual((yield* Effect.flip(given(catalog).page(nextCursor, 1)))._tag, "ChannelUnavailable")
    }))
})
