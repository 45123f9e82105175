import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { BrowserContext, Page } from "playwright-core"
import { aProduct } from "../support/Purchase.ts"
import { recorder } from "../support/Recorder.ts"
import { ShopFronts, shopFronts, somebody } from "../support/ShopFronts.ts"
import type { Answer } from "../support/TestApp.ts"
import { callFrom, confirmAt, open, signedInAt, signUpAt } from "../support/VisitedPage.ts"

/** Buys two pieces at a page: cart, line, checkout with the payment provider of tests. */
const buyAt = Effect.fnUntraced(
  function*(page: Page, entityId: string, headers: Readonly<Record<string, string>> = {}) {
    const cart = yield* callFrom(page, "POST", "/api/carts", { headers, body: { currency: "USD" } })
    const cartId = cart.text("data.id")
    const line = yield* callFrom(page, "POST", `/api/carts/${cartId}/items`, {
      headers,
      body: { entityId, quantity: 2 }
    })
    const bought = yield* callFrom(page, "POST", "/api/checkout", {
      headers: { ...headers, "idempotency-key": `once-for-${cartId}` },
      body: { cartId, currency: "USD", paymentMethodId: "test" }
    })
    assert.deepStrictEqual([cart.status, line.status, bought.status], [201, 201, 201])
    return bought
  }
)

/** The limits of requests as the page reads them. */
const limitsIn = ({ headers }: Answer) =>
  ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN))

const cookiesFor = (visitor: BrowserContext, url: string) => Effect.promise(() => visitor.cookies(url))

layer(shopFronts, { excludeTestServices: true, timeout: "60 seconds" })("a page of a trusted origin", (it) => {
  it.effect("signs its visitor up and in, sells, shows the order and signs the visitor out", () =>
    Effect.gen(function*() {
      const { api, shop } = yield* ShopFronts
      const mug = yield* aProduct({ price: 1_250, stock: 5 })
      const visitor = yield* somebody
      const page = yield* open(visitor, `${shop}/shop.html`)

      const { answered, email, link, password } = yield* signUpAt(page)
      assert.deepStrictEqual([answered.status, answered.at("token")], [200, null])
      const signIn = callFrom(page, "POST", "/api/auth/sign-in/email", { body: { email, password } })
      const early = yield* signIn
      assert.deepStrictEqual([early.status, early.at("error.code")], [403, "EMAIL_NOT_VERIFIED"])
      yield* confirmAt(page, link)
      assert.strictEqual(page.url(), `${shop}/shop.html?confirmed`, "the link leads back to the shop")
      assert.strictEqual((yield* signIn).status, 200)
      assert.strictEqual((yield* callFrom(page, "GET", "/api/auth/get-session")).at("user.email"), email)

      const bought = yield* buyAt(page, mug)
      const orders = yield* callFrom(page, "GET", "/api/me/orders")
      assert.deepStrictEqual([orders.status, orders.list("data").length], [200, 1])
      assert.strictEqual(orders.at("data.0.id"), bought.text("data.id"))
      assert.deepStrictEqual([orders.at("data.0.grandTotal"), orders.at("data.0.amountCaptured")], [2_500, 2_500])

      const signedOut = yield* callFrom(page, "POST", "/api/auth/sign-out", { body: {} })
      assert.deepStrictEqual([signedOut.status, signedOut.at("success")], [200, true])
      const after = yield* callFrom(page, "GET", "/api/me/orders")
      assert.deepStrictEqual([after.status, after.at("error.code")], [401, "UNAUTHORIZED"])
      assert.deepStrictEqual(yield* cookiesFor(visitor, api), [])
    }))

  it.effect("gets a cookie for its visitor that no script reads and that opens nothing after signing out", () =>
    Effect.gen(function*() {
      const { api } = yield* ShopFronts
      const visitor = yield* somebody
      const { page } = yield* signedInAt(visitor)
      const kept = yield* cookiesFor(visitor, api)
      assert.deepStrictEqual(
        kept.map(({ domain, httpOnly, name, path, sameSite }) => ({ domain, httpOnly, name, path, sameSite })),
        [{ domain: new URL(api).hostname, httpOnly: true, name: "uc.session_token", path: "/", sameSite: "Lax" }]
      )
      const ours = yield* open(visitor, `${api}/api/health`)
      assert.strictEqual(yield* Effect.promise(() => ours.evaluate<string>("document.cookie")), "")

      assert.strictEqual((yield* callFrom(page, "POST", "/api/auth/sign-out", { body: {} })).status, 200)
      yield* Effect.promise(() => visitor.addCookies(kept))
      assert.strictEqual((yield* callFrom(page, "GET", "/api/me/orders")).status, 401)
    }))

  it.effect("reads the limits of requests, and how long to wait beyond them", () =>
    Effect.gen(function*() {
      const { shop } = yield* ShopFronts
      const page = yield* open(yield* somebody, `${shop}/shop.html`)
      const guess = callFrom(page, "POST", "/api/auth/sign-in/email", {
        body: { email: "unknown@example.com", password: "a guess of many" }
      })
      const [limit = 0, first = 0, reset = 0] = limitsIn(yield* guess)
      const [, second] = limitsIn(yield* guess)
      assert.deepStrictEqual([limit, first, second], [10, 9, 8])
      assert.isAbove(reset, 1_700_000_000)
      for (let left = second ?? 0; left > 0; left--) assert.strictEqual((yield* guess).status, 401)
      const refused = yield* guess
      assert.deepStrictEqual([refused.status, refused.at("error.code")], [429, "TOO_MANY_REQUESTS"])
      assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
      assert.match(refused.headers.get("x-request-id") ?? "", /^[\w-]{36}$/)
    }))

  it.effect("sends a preference, and reads which fields were ignored", () =>
    Effect.gen(function*() {
      const { shop } = yield* ShopFronts
      const page = yield* open(yield* somebody, `${shop}/shop.html`)
      const ask = (headers: Readonly<Record<string, string>>) =>
        callFrom(page, "POST", "/api/carts?qurey=1", { headers, body: { currency: "USD", colour: "red" } })
      const lenient = yield* ask({ "if-none-match": "\"a\"" })
      assert.deepStrictEqual([lenient.status, lenient.headers.get("x-ignored-fields")], [201, "colour, query.qurey"])
      const strict = yield* ask({ prefer: "handling=strict" })
      assert.deepStrictEqual([strict.status, strict.headers.get("preference-applied")], [422, "handling=strict"])
    }))

  it.effect("asks once whether it may, and then sends as often as it likes", () =>
    Effect.gen(function*() {
      const { api, shop } = yield* ShopFronts
      const page = yield* open(yield* somebody, `${shop}/shop.html`)
      const { exchanges } = yield* recorder(page)
      for (let n = 0; n < 3; n++) {
        assert.strictEqual((yield* callFrom(page, "POST", "/api/carts", { body: { currency: "USD" } })).status, 201)
      }
      const asked = yield* exchanges("OPTIONS", `${api}/api/carts`)
      assert.deepStrictEqual(asked.map(({ status }) => status), [204])
      assert.strictEqual((yield* exchanges("POST", `${api}/api/carts`)).length, 3)
    }))

  it.effect("of another site gets no cookie, and sells with the bearer token instead", () =>
    Effect.gen(function*() {
      const { api, partner } = yield* ShopFronts
      const mug = yield* aProduct({ price: 1_250, stock: 5 })
      const visitor = yield* somebody
      const page = yield* open(visitor, `${partner}/shop.html`)
      const { email, link, password } = yield* signUpAt(page)
      yield* confirmAt(yield* Effect.promise(() => visitor.newPage()), link, password)
      const { exchanges } = yield* recorder(page)
      const signedIn = yield* callFrom(page, "POST", "/api/auth/sign-in/email", { body: { email, password } })
      assert.strictEqual(signedIn.status, 200)
      const [exchange] = yield* exchanges("POST", `${api}/api/auth/sign-in/email`)
      // A browser that takes no cookies of other sites says so before it looks at SameSite.
      assert.match(exchange?.withheld.join() ?? "", /^(SameSiteLax|UserPreferences|ThirdPartyPhaseout)$/)
      assert.deepStrictEqual(yield* cookiesFor(visitor, api), [])
      assert.isNull((yield* callFrom(page, "GET", "/api/auth/get-session")).body)

      const headers = { authorization: `Bearer ${signedIn.headers.get("set-auth-token")}` }
      const bought = yield* buyAt(page, mug, headers)
      const orders = yield* callFrom(page, "GET", "/api/me/orders", { headers })
      assert.deepStrictEqual([orders.status, orders.at("data.0.id")], [200, bought.text("data.id")])
      yield* callFrom(page, "POST", "/api/auth/sign-out", { headers, body: {} })
      assert.strictEqual((yield* callFrom(page, "GET", "/api/me/orders", { headers })).status, 401)
    }))
})
