import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { nonceOf } from "../../src/http/auth/SignUpNonce.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { type Answer, api, at, TestApp, testAppLayer } from "../support/TestApp.ts"
import { totp } from "./Authenticator.ts"
import { aVisitor, makeOutbox, newEmail, password, refused, signIn, verify } from "./Visitors.ts"

const outbox = makeOutbox()
const owners = "the owner's own horse"
const path = "/api/auth/verify-email"

/** What the button of the page of a link sends, from the page's origin unless it says another one. */
const press = Effect.fnUntraced(function*(link: URL, fields: Record<string, string>, headers = {}) {
  const { url } = yield* TestApp
  const body = new URLSearchParams({ token: link.searchParams.get("token") ?? "", ...fields }).toString()
  const form = { "content-type": "application/x-www-form-urlencoded", origin: url }
  return yield* api("POST", path, { body, headers: { ...form, ...headers } })
})

/** A page and not an answer for programs, on which nothing runs. */
const isPage = (answer: Answer, status: number, text: string) => {
  assert.deepStrictEqual([answer.status, answer.headers.get("content-type")], [status, "text/html; charset=utf-8"])
  assert.include(String(answer.body), text)
  assert.notInclude(String(answer.body), "<script")
  assert.include(answer.headers.get("content-security-policy"), "default-src 'none'")
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
}

const opened = (link: URL, browser = makeBrowser()) => browser.get(`${link.pathname}${link.search}`)

/** A guest buys something and leaves an e-mail address; gives the order's id. */
const boughtBy = Effect.fnUntraced(function*(email: string) {
  const entityId = yield* aProduct()
  const made = yield* api("POST", "/api/carts", { body: { currency: "USD", email } })
  const cart = { id: made.text("data.id"), headers: { "x-cart-secret": made.text("data.secret") } }
  yield* putInto(cart, entityId)
  return (yield* checkOut(cart)).text("data.id")
})

const signedUp = Effect.fnUntraced(function*(email = newEmail()) {
  const visitor = yield* aVisitor(email)
  return { ...visitor, link: yield* outbox.linkTo(visitor.email, "email-verification") }
})

layer(testAppLayer({ email: { send: outbox.send } }), { excludeTestServices: true, timeout: "60 seconds" })(
  "the link that verifies an address",
  (it) => {
    it.effect("changes nothing when it is opened, however often, and leads to a page with a button", () =>
      Effect.gen(function*() {
        const { browser, email, link } = yield* signedUp()
        for (const _ of [1, 2]) isPage(yield* opened(link), 200, "name=\"newPassword\"")
        isPage(yield* opened(link, browser), 200, "<button")
        assert.notInclude(String((yield* opened(link, browser)).body), "newPassword", "the browser that signed up")
        refused((yield* signIn(email)).answer, 403, "EMAIL_NOT_VERIFIED")
      }))

    it.effect("gives no account to the stranger who signed up with somebody else's address", () =>
      Effect.gen(function*() {
        const email = newEmail()
        const order = yield* boughtBy(email)
        const { link } = yield* signedUp(email)
        refused(
          yield* api("POST", path, { body: { token: link.searchParams.get("token") } }),
          400,
          "NEW_PASSWORD_REQUIRED"
        )
        for (const newPassword of ["short", "Password1"]) {
          isPage(yield* press(link, { newPassword }), 400, "role=\"alert\"")
        }
        refused((yield* signIn(email)).answer, 403, "EMAIL_NOT_VERIFIED")

        isPage(yield* press(link, { newPassword: owners }), 200, "confirmed")
        refused((yield* signIn(email)).answer, 401, "INVALID_EMAIL_OR_PASSWORD")
        const { browser } = yield* signIn(email, owners)
        assert.deepStrictEqual((yield* browser.get("/api/me/orders")).list("data").map((one) => at(one, "id")), [order])
      }))

    it.effect("leaves the password as it is in the browser that signed up", () =>
      Effect.gen(function*() {
        const { browser, email, link } = yield* signedUp()
        // Somebody who signs up twice is known by the first account.
        yield* aVisitor(email, browser)
        const [stored] = yield* onDatabase((sql) =>
          sql<{ readonly kept: string }>`select sign_up_browser as kept from users where email = ${email}`
        )
        const nonce = browser.cookies.get("uc.sign_up")
        assert.deepInclude(nonce?.attributes, { httponly: true, samesite: "Lax" })
        assert.notInclude(stored?.kept, nonce?.value, "the nonce itself is stored")
        // Another account's browser is another browser.
        refused(
          yield* (yield* signedUp()).browser.post(path, { token: link.searchParams.get("token") }),
          400,
          "NEW_PASSWORD_REQUIRED"
        )
        assert.strictEqual((yield* browser.post(path, { token: link.searchParams.get("token") })).status, 200)
        assert.isFalse(browser.cookies.has("uc.sign_up"), "it has served its purpose")
        assert.strictEqual((yield* signIn(email)).answer.status, 200)
      }))

    it.effect("serves once: later it neither chooses a password nor ends a session", () =>
      Effect.gen(function*() {
        const { email, link } = yield* signedUp()
        yield* api("POST", "/api/auth/send-verification-email", { body: { email } })
        const second = yield* outbox.linkTo(email, "email-verification")
        const uses = yield* Effect.all(
          [1, 2, 3, 4].map((use) => verify(use % 2 === 0 ? link : second, makeBrowser(), `horse number ${use}`)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(uses.map(({ status }) => status), [200, 200, 200, 200])
        const signIns = yield* Effect.all([1, 2, 3, 4].map((use) => signIn(email, `horse number ${use}`)))
        const { browser } = signIns.find(({ answer }) => answer.status === 200) ??
          (yield* Effect.die("nobody signed in"))
        assert.strictEqual(signIns.filter(({ answer }) => answer.status === 200).length, 1)
        isPage(yield* press(link, { newPassword: owners }), 200, "confirmed")
        isPage(yield* opened(second), 200, "confirmed")
        assert.isNotNull((yield* browser.get("/api/auth/get-session")).body)
        assert.strictEqual((yield* signIn(email, owners)).answer.status, 401)
      }))

    it.effect("ends on a page, also where it is dead or leads on", () =>
      Effect.gen(function*() {
        const { link } = yield* signedUp()
        for (
          const token of ["", "x", "a.b.c", `${link.searchParams.get("token")}x`, `x${link.searchParams.get("token")}`]
        ) {
          isPage(yield* api("GET", `${path}?token=${token}`), 401, "does not work")
          isPage(yield* api("GET", `${path}?token=${token}&callbackURL=%2Fwelcome`), 401, "does not work")
        }
        isPage(yield* press(link, { token: "x", newPassword: owners }), 401, "does not work")
        isPage(
          yield* press(link, { newPassword: owners, callbackURL: "/welcome?\"><b>" }),
          200,
          "href=\"/welcome?&quot;&gt;"
        )
      }))

    it.effect("is pressed on its own page or a trusted one, and on no other", () =>
      Effect.gen(function*() {
        const { email, link } = yield* signedUp()
        for (const origin of ["https://evil.example", "null"]) {
          const answer = yield* press(link, { newPassword: "a stranger's horse" }, { origin })
          assert.strictEqual(answer.status, 403, origin)
        }
        refused((yield* signIn(email, "a stranger's horse")).answer, 401, "INVALID_EMAIL_OR_PASSWORD")
      }))

    it.effect("the cookie of a sign-up makes no program show where its requests come from", () =>
      Effect.gen(function*() {
        const { browser, email, link } = yield* signedUp()
        const cookie = `uc.sign_up=${browser.cookies.get("uc.sign_up")?.value}`
        yield* verify(link, browser)
        const body = { email, password }
        assert.strictEqual((yield* api("POST", "/api/auth/sign-in/email", { headers: { cookie }, body })).status, 200)
      }))
  }
)

const open = { requireEmailVerification: false, apiKeys: { enabled: true }, roles: { keeper: ["api-keys:manage"] } }

layer(testAppLayer({ email: { send: outbox.send }, auth: open }), { excludeTestServices: true, timeout: "60 seconds" })(
  "what a stranger set up before the address was verified",
  (it) => {
    it.effect("ends with it: sessions, second factor, keys and linked accounts", () =>
      Effect.gen(function*() {
        const { browser, email, userId } = yield* aVisitor()
        yield* onDatabase((sql) =>
          sql`insert into members (organization_id, user_id, role) values ('org_default', ${userId}::uuid, 'keeper')
            on conflict (organization_id, user_id) do update set role = 'keeper'`
        )
        yield* onDatabase((sql) =>
          sql`insert into user_accounts (account_id, provider_id, user_id) values (${randomUUID()}, 'google', ${userId}::uuid)`
        )
        const enabled = yield* browser.post("/api/auth/two-factor/enable", { password })
        yield* browser.post("/api/auth/two-factor/verify-totp", { code: totp(enabled.text("totpURI")) })
        const key = yield* browser.post("/api/auth/api-key/create", { name: "till" })
        assert.strictEqual(key.status, 200, JSON.stringify(key.body))

        yield* browser.post("/api/auth/send-verification-email", { email })
        assert.strictEqual(
          (yield* verify(yield* outbox.linkTo(email, "email-verification"), makeBrowser(), owners)).status,
          200
        )
        assert.isNull((yield* browser.get("/api/auth/get-session")).body)
        for (const table of ["two_factors", "sessions"]) {
          const left = yield* onDatabase((sql) => sql`select 1 from ${sql(table)} where user_id = ${userId}::uuid`)
          assert.strictEqual(left.length, 0, table)
        }
        const keys = yield* onDatabase((sql) => sql`select 1 from api_keys where reference_id = ${userId}`)
        assert.strictEqual(keys.length, 0)
        const ways = yield* onDatabase((sql) =>
          sql`select provider_id from user_accounts where user_id = ${userId}::uuid`
        )
        assert.deepStrictEqual(ways, [{ provider_id: "credential" }])
        const own = yield* signIn(email, owners)
        assert.deepStrictEqual([own.answer.status, own.answer.at("user.twoFactorEnabled")], [200, false])
      }))
  }
)

const page = "https://shop.example/verify?lang=en"
const withPage = { trustedOrigins: ["https://shop.example"], verificationPage: page }

layer(testAppLayer({ email: { send: outbox.send }, auth: withPage }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})(
  "a page of the shop's own",
  (it) => {
    it.effect("is where the link leads, and verifies the address from there", () =>
      Effect.gen(function*() {
        const { email, link } = yield* signedUp()
        assert.deepStrictEqual([link.origin, link.pathname, link.searchParams.get("lang")], [
          "https://shop.example",
          "/verify",
          "en"
        ])
        const body = { token: link.searchParams.get("token"), newPassword: owners }
        const answer = yield* api("POST", path, { headers: { origin: "https://shop.example" }, body })
        assert.strictEqual(answer.status, 200)
        assert.strictEqual((yield* signIn(email, owners)).answer.status, 200)
      }))
  }
)

describe("the nonce of a sign-up over https", () => {
  it("counts only under the name that no other host can plant", () => {
    const [own, planted] = ["a".repeat(43), "b".repeat(43)]
    assert.isUndefined(nonceOf(`uc.sign_up=${planted}`, true))
    assert.strictEqual(nonceOf(`uc.sign_up=${planted}; __Host-uc.sign_up=${own}`, true), own)
    assert.strictEqual(nonceOf(`uc.sign_up=${own}`, false), own)
  })
})
