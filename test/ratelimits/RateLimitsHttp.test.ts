import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { randomUUID } from "node:crypto"
import { defaultRates, rateLimitValues, windowEnd } from "../../src/domain/platform/ratelimits/RateLimits.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { newEmail } from "../auth/Visitors.ts"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asCustomer, type Call, testAppLayer } from "../support/TestApp.ts"

/** The limits of production, behind a proxy that says where each request comes from. */
const inProduction = layer(
  testAppLayer({}, { rateLimits: rateLimitValues(defaultRates, 1), trustedProxy: Option.some("127.0.0.1") }),
  { excludeTestServices: true, timeout: "60 seconds" }
)

/** Whether no window of this subject ends in the next half a minute, during a test. */
const hasTime = (subject: string) =>
  ["api", "checkout", "guesses", "promotionTrial", "auth"].every((bucket) =>
    windowEnd(`${bucket}:${subject}`, 60_000, Date.now()) - Date.now() > 30_000
  )

let addresses = 0

/** An unused address. */
const newAddress = (): string => {
  const address = `203.0.${113 + Math.floor(++addresses / 250)}.${addresses % 250}`
  return hasTime(`ip:${address}`) ? address : newAddress()
}

/** A user who has not asked for anything. */
const newUser = (): ReturnType<typeof asCustomer> => {
  const id = randomUUID()
  return hasTime(`user:${id}`) ? asCustomer(id) : newUser()
}

/** The last group of an unused IPv6 network of 64 bits. */
const newNetwork = (): number => {
  const network = ++addresses
  return hasTime(`ip:32.1.13.184.0.1.${network >> 8}.${network & 255}/64`) ? network : newNetwork()
}

const from = (address: string, { headers, ...call }: Call = {}): Call => ({
  ...call,
  headers: { ...headers, "x-forwarded-for": address }
})

const key = { "x-api-key": "dev-admin-key" }

const recorded = (answer: Answer) =>
  (["limit", "remaining", "reset"] as const).map((name) => Number(answer.headers.get(`x-ratelimit-${name}`) ?? "NaN"))

/** Exactly this many are let through, and of the window that begins in the middle, if one does, no more than that. */
const letsThrough = Effect.fnUntraced(function*<R>(count: number, send: () => Effect.Effect<Answer, never, R>) {
  const answers = yield* Effect.forEach(Array.from({ length: count + 5 }), send, { concurrency: 20 })
  const windows = new Map<number, number>()
  for (const answer of answers) {
    const [, , reset = 0] = recorded(answer)
    windows.set(reset, (windows.get(reset) ?? 0) + (answer.status === 429 ? 0 : 1))
  }
  const ends = [...windows.keys()].sort((one, other) => one - other)
  for (const [index, end] of ends.entries()) {
    assert.strictEqual(index === 0 ? end : end - 60, ends[Math.max(0, index - 1)], "all count against one limit")
    assert.isAtMost(windows.get(end) ?? 0, count)
  }
  if (ends.length === 1) assert.strictEqual(windows.get(ends[0] ?? 0), count)
  return answers
})

inProduction("limits of requests", (it) => {
  describe("headers", () => {
    const large = "x".repeat(1_100_000)
    const kinds = {
      "200": () => api("GET", "/api/catalog/entities", from(newAddress())),
      "200 of health": () => api("GET", "/api/health", from(newAddress())),
      "200 of the document": () => api("GET", "/api/doc", from(newAddress())),
      "200 of HEAD": () => api("HEAD", "/api/health", from(newAddress())),
      "200 with a key": () => api("GET", "/api/orders", from(newAddress(), { headers: key })),
      "201": () => api("POST", "/api/carts", from(newAddress(), { body: { currency: "USD" } })),
      "204": () =>
        api("OPTIONS", "/api/carts", from(newAddress(), { headers: { "access-control-request-method": "POST" } })),
      "400": () => api("POST", "/api/carts", from(newAddress(), { body: "{" })),
      "401": () => api("GET", "/api/orders", from(newAddress())),
      "401 with a key": () => api("GET", "/api/orders", from(newAddress(), { headers: { "x-api-key": "forged" } })),
      "403": () => api("GET", "/api/orders", from(newAddress(), { as: { ...asCustomer("unknown"), permissions: [] } })),
      "404": () => api("GET", `/api/carts/${randomUUID()}`, from(newAddress())),
      "404 of no route": () => api("GET", "/api/nothing", from(newAddress())),
      "404 of no route with a key": () => api("GET", "/nothing", from(newAddress(), { headers: key })),
      "405": () => api("PUT", "/api/carts", from(newAddress(), { body: {} })),
      "413": () => api("POST", "/api/carts", from(newAddress(), { body: { large } })),
      "415": () =>
        api("POST", "/api/carts", from(newAddress(), { body: "a", headers: { "content-type": "text/css" } })),
      "422": () => api("POST", "/api/carts", from(newAddress(), { body: {} }))
    }
    for (const [kind, send] of Object.entries(kinds)) {
      it.effect(`${kind} tells limit, rest and the end of the window`, () =>
        Effect.gen(function*() {
          const now = (yield* Clock.currentTimeMillis) / 1_000
          const answer = yield* send()
          assert.strictEqual(answer.status, Number(kind.slice(0, 3)))
          const [limit, remaining, reset] = recorded(answer)
          const expected = kind.includes("with a key") && !kind.startsWith("40") ? 6_000 : 100
          assert.strictEqual(limit, expected)
          assert.isTrue(remaining === expected || remaining === expected - 1, String(remaining))
          assert.isTrue((reset ?? 0) >= Math.floor(now) && (reset ?? 0) <= now + 62, String(reset))
          assert.isNull(answer.headers.get("retry-after"))
        }))
    }
  })

  describe("a visitor", () => {
    it.effect("is refused in the envelope with Retry-After when 100 requests of a minute are used up", () =>
      Effect.gen(function*() {
        const address = newAddress()
        const before = yield* Clock.currentTimeMillis
        const answers = yield* letsThrough(100, () => api("GET", "/api/nothing", from(address)))
        const after = yield* Clock.currentTimeMillis
        const last = answers.find(({ status }) => status === 429)
        assert.isDefined(last)
        refused(last, 429, "TOO_MANY_REQUESTS")
        assert.deepStrictEqual(Object.keys(Object(last.body)), ["error"])
        const [limit, remaining, reset] = recorded(last)
        assert.deepStrictEqual([limit, remaining], [100, 0])
        const wait = Number(last.headers.get("retry-after"))
        assert.isTrue(wait >= 1 && wait <= 60, String(wait))
        const said = (reset ?? 0) - wait
        assert.isTrue(said >= Math.floor(before / 1_000) - 1 && said <= Math.ceil(after / 1_000) + 1, String(said))
        assert.strictEqual((yield* api("GET", "/api/nothing", from(newAddress()))).status, 404, "others are not")
      }))

    it.effect("may try 5 payments of an order in a minute, from any address, and others as many of theirs", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const unpaid = Effect.gen(function*() {
          const cart = yield* aCartWith(entityId)
          const body = { paymentMethodId: "test_requires_action" }
          const made = yield* checkOut(cart, body, { "x-forwarded-for": newAddress() })
          return { id: made.text("data.id"), headers: cart.headers }
        })
        const pay = ({ headers, id }: Effect.Success<typeof unpaid>, method = "test_decline") =>
          api("POST", `/api/orders/${id}/payments`, from(newAddress(), { headers, body: { paymentMethodId: method } }))
        let order = yield* unpaid
        while (windowEnd(`payment:${order.id}`, 60_000, Date.now()) - Date.now() < 30_000) order = yield* unpaid
        // Who may not pay it uses nothing up.
        for (const _ of Array.from({ length: 6 })) yield* pay({ ...order, headers: { "x-cart-secret": "wrong" } })
        for (const _ of Array.from({ length: 5 })) refused(yield* pay(order), 422, "CHECKOUT_FAILED")
        const last = yield* pay(order, "test")
        refused(last, 429, "TOO_MANY_REQUESTS")
        assert.isAtLeast(Number(last.headers.get("retry-after")), 1)
        const read = yield* api("GET", `/api/orders/${order.id}`, from(newAddress(), { headers: order.headers }))
        assert.strictEqual(read.at("data.payment.status"), "failed")
        assert.strictEqual((yield* pay(yield* unpaid, "test")).status, 200)
      }))

    it.effect("is refused on every route but those of operators, before any work is done", () =>
      Effect.gen(function*() {
        const address = newAddress()
        yield* letsThrough(100, () => api("GET", "/api/nothing", from(address)))
        const seen = yield* Effect.forEach(
          [
            ["GET", "/api/catalog/entities"],
            ["POST", "/api/carts"],
            ["GET", "/api/doc"],
            ["GET", "/nothing"],
            ["GET", "/api/health"],
            ["GET", "/api/ready"],
            ["GET", "/health/live"]
          ] as const,
          ([method, path]) => api(method, path, from(address, method === "POST" ? { body: { currency: "USD" } } : {}))
        )
        assert.deepStrictEqual(seen.map(({ status }) => status), [429, 429, 429, 429, 200, 200, 200])
        const preflight = { headers: { origin: "http://localhost:1", "access-control-request-method": "POST" } }
        assert.strictEqual((yield* api("OPTIONS", "/api/carts", from(address, preflight))).status, 204)
      }))

    it.effect("has one limit for all addresses of an IPv6 network", () =>
      Effect.gen(function*() {
        const network = newNetwork()
        let host = 0
        yield* letsThrough(100, () =>
          api("GET", "/api/nothing", from(`2001:db8:1:${network.toString(16)}::${(++host).toString(16)}`)))
        assert.strictEqual(
          (yield* api("GET", "/api/nothing", from(`2001:db8:1:${newNetwork().toString(16)}::1`))).status,
          404
        )
      }))

    it.effect("can check out 5 times and try 10 promotion codes a minute, however the path is written", () =>
      Effect.gen(function*() {
        for (
          const [path, count, body] of [
            ["/api/checkout", 5, { cartId: randomUUID(), paymentMethodId: "test" }],
            ["/api/promotions/validate", 10, { code: "NONE", currency: "USD", subtotal: 1, lineItems: [] }]
          ] as const
        ) {
          const address = newAddress()
          const answers = yield* letsThrough(count, () => api("POST", path, from(address, { body })))
          assert.deepStrictEqual(recorded(answers.at(-1) ?? (yield* Effect.die("no answer"))).slice(0, 2), [count, 0])
          for (const written of [path.replace("o", "%6f"), `${path}?a=1`]) {
            const again = yield* api("POST", written, from(address, { body }))
            assert.include([404, 429], again.status, written)
          }
        }
      }))
  })

  describe("an authenticated caller", () => {
    it.effect("is counted as a user at every address, and not with others at the same address", () =>
      Effect.gen(function*() {
        const address = newAddress()
        const [one, other] = [newUser(), newUser()]
        yield* letsThrough(100, () => api("GET", "/api/catalog/entities", from(newAddress(), { as: one })))
        const answer = yield* api("GET", "/api/catalog/entities", from(address, { as: one }))
        assert.strictEqual(answer.status, 429)
        assert.isNotNull(answer.headers.get("retry-after"))
        assert.strictEqual((yield* api("GET", "/api/catalog/entities", from(address, { as: other }))).status, 200)
        assert.strictEqual((yield* api("GET", "/api/catalog/entities", from(address))).status, 200)
      }))

    it.effect("by a key has 6,000 requests and 300 checkouts a minute, also at an address that others used up", () =>
      Effect.gen(function*() {
        const address = newAddress()
        yield* letsThrough(100, () => api("GET", "/api/nothing", from(address)))
        const found = yield* api("GET", "/api/orders", from(address, { headers: key }))
        assert.deepStrictEqual([found.status, recorded(found)[0]], [200, 6_000])
        const body = { cartId: randomUUID(), paymentMethodId: "test" }
        const checkout = yield* api("POST", "/api/checkout", from(address, { headers: key, body }))
        assert.notStrictEqual(checkout.status, 429)
        assert.strictEqual(recorded(checkout)[0], 300)
      }))

    it.effect("is counted by address if the credentials are invalid", () =>
      Effect.gen(function*() {
        const address = newAddress()
        // Two limits of the same size count them in different windows: the headers may show either.
        const guess = () =>
          api("GET", "/api/orders", from(address, { headers: { "x-api-key": `guess-${randomUUID()}` } }))
        const answers = yield* Effect.forEach(Array.from({ length: 110 }), guess, { concurrency: 10 })
        const statuses = answers.map(({ status }) => status)
        assert.deepStrictEqual([...new Set(statuses)].sort(), [401, 429])
        assert.strictEqual(statuses.filter((status) => status === 401).length, 100)
        assert.strictEqual((yield* api("GET", "/api/orders", from(address, { headers: key }))).status, 200)
        const elsewhere = newAddress()
        yield* letsThrough(
          100,
          () => api("GET", "/nothing", from(elsewhere, { headers: { authorization: `Bearer ${randomUUID()}` } }))
        )
      }))
  })

  describe("authentication", () => {
    it.effect("answers 10 requests of an address in a minute, and 120 for its session", () =>
      Effect.gen(function*() {
        const address = newAddress()
        const spellings = ["/api/auth/sign-up/email", "/api/auth/Sign-Up/email", "/api/auth//sign-out", "/api/%61uth/x"]
        let turn = 0
        yield* letsThrough(10, () => api("POST", spellings[turn++ % 4] ?? "", from(address, { body: {} })))
        const session = yield* api("GET", "/api/auth/get-session", from(address))
        assert.notStrictEqual(session.status, 429, "has a separate limit")
        assert.strictEqual(recorded(session)[0], 100, "of which the limit of all requests leaves less")
      }))

    it.effect("answers 10 attempts to sign in with an e-mail address, from any address and in any spelling", () =>
      Effect.gen(function*() {
        const tried = newEmail()
        const spellings = [tried, tried.toUpperCase(), `  ${tried} `]
        let turn = 0
        const attempt = () => {
          const email = spellings[turn++ % 3] ?? ""
          const form = { "content-type": "application/x-www-form-urlencoded" }
          const call = turn % 2 === 0
            ? { body: { email, password: "x" } }
            : { body: new URLSearchParams({ email, password: "x" }).toString(), headers: form }
          return api("POST", "/api/auth/sign-in/email", from(newAddress(), call))
        }
        const answers = yield* Effect.forEach(Array.from({ length: 12 }), attempt)
        assert.deepStrictEqual(answers.map(({ status }) => status === 429).indexOf(true), 10)
        const last = answers.at(-1)
        assert.strictEqual(last?.status, 429)
        assert.isAtMost(Number(last?.headers.get("retry-after")), 900)
        const other = { body: { email: `${randomUUID()}@shop.test`, password: "x" } }
        assert.notStrictEqual((yield* api("POST", "/api/auth/sign-in/email", from(newAddress(), other))).status, 429)
      }))

    it.effect("counts the e-mail address that a sign-in tries, with any other content of its body", () =>
      Effect.gen(function*() {
        const email = newEmail()
        const headers = { "content-type": "application/x-www-form-urlencoded" }
        const rest = `email=${encodeURIComponent(email)}&password=x`
        const tries = Effect.fnUntraced(function*(bodyOf: (turn: string) => string) {
          const answers = yield* Effect.forEach(
            Array.from({ length: 12 }, () => bodyOf(`${randomUUID()}@shop.test`)),
            (body) => api("POST", "/api/auth/sign-in/email", from(newAddress(), { body, headers }))
          )
          return answers.map(({ status }) => status)
        })
        const twice = yield* tries((another) => `email=${encodeURIComponent(another)}&${rest}`)
        assert.deepStrictEqual([...new Set(twice)], [400], "no password is compared")
        const both = yield* tries((another) => `${JSON.stringify({ email: another, password: "x" })}&${rest}`)
        assert.deepStrictEqual(both, [...Array.from({ length: 10 }, () => 401), 429, 429])
      }))
  })

  it.effect("events of payment providers count only where they are not in order", () =>
    Effect.gen(function*() {
      const address = newAddress()
      yield* letsThrough(100, () => api("POST", "/api/payments/webhook", from(address, { body: { forged: true } })))
      const body = JSON.stringify({ id: randomUUID(), type: "charge.updated", data: { object: { id: "pi_1" } } })
      const signed = from(address, { body, headers: { "x-payment-signature": signTestEvent("test", body) } })
      assert.strictEqual((yield* api("POST", "/api/payments/webhook", signed)).status, 200)
    }))
})
