import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Option } from "effect"
import { randomUUID } from "node:crypto"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { api, asCustomer, live, testAppLayer, withApp } from "../support/TestApp.ts"

const trusting = (address: string) => layer(testAppLayer({}, { trustedProxy: Option.some(address) }), live)
const behindAProxy = trusting("127.0.0.0/8, 10.1.0.0/16, fd00::/8")
const besideAProxy = trusting("10.0.0.5")

/** Makes a cart as a visitor without credentials; gives its secret. */
const secretFor = (key: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.map(
    api("POST", "/api/carts", { body: { currency: "USD" }, headers: { "idempotency-key": key, ...headers } }),
    (made) => made.text("data.secret")
  )

const from = (forwarded: string) => ({ "x-forwarded-for": forwarded })

behindAProxy("visitors behind the trusted proxy", (it) => {
  it.effect("do not share idempotency keys or carts", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const first = yield* secretFor(key, from("203.0.113.1"))
      assert.notStrictEqual(yield* secretFor(key, from("203.0.113.2")), first)
      assert.strictEqual(yield* secretFor(key, from("203.0.113.1")), first)
    }))

  it.effect("are known by the last address that is no proxy's, in any notation", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const first = yield* secretFor(key, from("203.0.113.1"))
      for (
        const same of [
          "203.0.113.1, 10.1.0.7",
          "203.0.113.1,10.1.0.7, fd00::1 ,127.0.0.9",
          "::ffff:203.0.113.1 , ::ffff:10.1.2.3",
          "203.0.113.1:4711, [fd00::2]:80",
          "198.51.100.1, 203.0.113.1",
          "10.1.0.1, unknown, 203.0.113.1, 10.1.0.7"
        ]
      ) {
        assert.strictEqual(yield* secretFor(key, from(same)), first, same)
      }
      for (const other of ["2001:db8::1", "203.0.113.1, 10.2.0.7", "203.0.113.1, 203.0.113.2"]) {
        assert.notStrictEqual(yield* secretFor(key, from(other)), first, other)
      }
    }))

  it.effect("cannot put an address before their own", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const own = yield* secretFor(key, from("203.0.113.77"))
      for (const claimed of ["203.0.113.1", "10.1.0.1", "127.0.0.1, 10.1.0.1", "203.0.113.1, 203.0.113.2"]) {
        assert.strictEqual(yield* secretFor(key, from(`${claimed}, 203.0.113.77`)), own, claimed)
      }
    }))

  it.effect("count as the proxy itself when the entry is no address", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      assert.strictEqual(yield* secretFor(key, from("unknown")), yield* secretFor(key))
    }))
})

besideAProxy("visitors who do not come through the trusted proxy", (it) => {
  it.effect("cannot choose their address", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      assert.strictEqual(yield* secretFor(key, from("203.0.113.1")), yield* secretFor(key, from("203.0.113.2")))
    }))
})

withApp("visitors without a trusted proxy", (it) => {
  it.effect("cannot choose their address", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      assert.strictEqual(
        yield* secretFor(key, from("203.0.113.1")),
        yield* secretFor(key, from("203.0.113.2"))
      )
    }))

  it.effect("a cart secret that equals a user's id does not open that user's keys", () =>
    Effect.gen(function*() {
      const [key, word] = [randomUUID(), randomUUID()]
      const call = { body: { currency: "USD" }, headers: { "idempotency-key": key } }
      const users = yield* api("POST", "/api/carts", { ...call, as: asCustomer(word) })
      assert.notStrictEqual(yield* secretFor(key, { "x-cart-secret": word }), users.text("data.secret"))
    }))
})

describe("the setting", () => {
  const settings = (value: string) =>
    readSettings({}).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromUnknown({ TRUSTED_PROXY_IP: value })
      )
    )

  it.effect("holds addresses and networks; anything else ends the start with a line that says so", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* settings("10.0.0.5")).trustedProxy, Option.some("10.0.0.5"))
      assert.deepStrictEqual((yield* settings("")).trustedProxy, Option.none())
      const networks = "10.0.0.5, 10.1.0.0/16,fd00::/8"
      assert.deepStrictEqual((yield* settings(networks)).trustedProxy, Option.some(networks))
      for (
        const wrong of ["proxy", "10.0.0.5,", "10.0.0.0/33", "fd00::/129", "10.0.0.0/8/8", "10.0.0.0/-1", "10.0.0.0/"]
      ) {
        const { message } = yield* Effect.flip(settings(wrong))
        assert.include(message, `TRUSTED_PROXY_IP="${wrong}" is not allowed`)
      }
    }))
})
