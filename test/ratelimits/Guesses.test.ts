import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { randomBytes } from "node:crypto"
import { aKey, cookieOf, signIn } from "../access/People.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { lastingRates } from "../support/LastingRates.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { type StatementTap, tapOn } from "../support/StatementTap.ts"
import { api, live, testAppOn } from "../support/TestApp.ts"

/** Every statement that the service sends. */
class Tap extends Context.Service<Tap, StatementTap>()("stoa/test/ratelimits/Guesses/Tap") {}

const limit = 20

const tapped = Layer.unwrap(Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const tap = yield* tapOn(url)
  const app = testAppOn(tap.url, { jobs: { autorun: { enabled: false } } }, {
    rateLimits: lastingRates({ api: limit }),
    trustedProxy: Option.some("127.0.0.1")
  })
  return Layer.merge(app, Layer.succeed(Tap, tap))
}))

let addresses = 0

/** An unused address. */
const newAddress = (): string => `203.0.113.${++addresses}`

const letters = (bytes: number): string => randomBytes(bytes).toString("base64url").replace(/[-_]/g, "x")

/** A request with these credentials from an address. */
const show = (address: string, headers: Readonly<Record<string, string>>) =>
  api("GET", "/api/orders", { headers: { ...headers, "x-forwarded-for": address } })

const anUnknownKey = () => ({ "x-api-key": `stoa_${letters(32)}` })
const anUnknownToken = () => ({ authorization: `Bearer ${letters(24)}` })

/** How many credentials were looked up since the last call. */
const lookUps = Effect.map(
  Tap,
  (tap) => tap.take().filter(({ text }) => /from (api_keys k|sessions s)/.test(text)).length
)

/** Shows invented credentials until the address is refused. */
const wearOut = (address: string) =>
  Effect.forEach(Array.from({ length: limit + 5 }), () => show(address, anUnknownKey()))

layer(tapped, live)(
  "an address that shows invented credentials",
  (it) => {
    it.effect("is refused before any more of them are looked up", () =>
      Effect.gen(function*() {
        const address = newAddress()
        const statuses = (yield* wearOut(address)).map(({ status }) => status)
        assert.deepStrictEqual([statuses[0], statuses.at(-1)], [401, 429])
        yield* lookUps
        for (const headers of [anUnknownKey(), anUnknownToken(), anUnknownKey()]) {
          const answer = yield* show(address, headers)
          assert.strictEqual(answer.status, 429)
          assert.isNotNull(answer.headers.get("retry-after"))
        }
        assert.strictEqual(yield* lookUps, 0)
        assert.strictEqual((yield* show(newAddress(), anUnknownKey())).status, 401)
        assert.strictEqual(yield* lookUps, 1)
      }))

    it.effect("does not block a recently valid key, although it is looked up again", () =>
      Effect.gen(function*() {
        const address = newAddress()
        const { headers } = yield* aKey({ role: "staff" })
        assert.strictEqual((yield* show(address, headers)).status, 200)
        yield* wearOut(address)
        yield* onDatabase((sql) => sql`select pg_notify('auth_changed', 'oorg_default')`)
        yield* lookUps
        yield* eventually(
          "it is evicted and looked up",
          Effect.gen(function*() {
            assert.strictEqual((yield* show(address, headers)).status, 200)
            return (yield* lookUps) > 0 ? true : undefined
          })
        )
      }))

    it.effect("does not block signed or cached credentials", () =>
      Effect.gen(function*() {
        const address = newAddress()
        const [{ headers }, customer] = [yield* aKey({ role: "staff" }), yield* signIn({ role: "staff" })]
        assert.strictEqual((yield* show(address, headers)).status, 200)
        yield* wearOut(address)
        assert.strictEqual((yield* show(address, headers)).status, 200)
        assert.strictEqual((yield* show(address, cookieOf(customer.token))).status, 200)
      }))
  }
)
