import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { nonceOf } from "../../src/http/auth/AddressVerification.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { type Answer, api, at, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import {
  aVisitor,
  become,
  boughtBy,
  isSignedIn,
  makeOutbox,
  newEmail,
  password,
  refused,
  setUpFactor,
  signIn,
  verify
} from "./Visitors.ts"

const outbox = makeOutbox()
const owners = "the owner's own horse"
const path = "/api/auth/verify-email"

/** Sends the form of the page of a link, from the page's origin unless the headers name another one. */
const press = Effect.fnUntraced(function*(link: URL, fields: Record<string, string>, headers = {}) {
  const { url } = yield* TestApp
  const body = new URLSearchParams({ token: link.searchParams.get("token") ?? "", ...fields }).toString()
  const form = { "content-type": "application/x-www-form-urlencoded", origin: url }
  return yield* api("POST", path, { body, headers: { ...form, ...headers } })
})

/** A page without scripts, not an answer for programs. */
const isPage = (answer: Answer, status: number, text: string) => {
  assert.deepStrictEqual([answer.status, answer.headers.get("content-type")], [status, "text/html; charset=utf-8"])
  assert.include(String(answer.body), text)
  assert.notInclude(String(answer.body), "<script")
  assert.include(answer.headers.get("content-security-policy"), "default-src 'none'")
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
}

const opened = (link: URL, browser = makeBrowser()) => browser.get(`${link.pathname}${link.search}`)

const signedUp = Effect.fnUntraced(function*(email = newEmail()) {
  const visitor = yield* aVisitor(email)
  return { ...visitor, link: yield* outbox.linkTo(visitor.email, "email-verification") }
})

layer(testAppLayer({ email: { send: outbox.send } }), live)(
  "the link that verifies an address",
  (it) => {
    it.effect("the link that verifies an address changes nothing when it is opened, however often, and leads to a page with a button", () =>
      Effect.gen(function*() {
        const { browser, email, link } = yield* signedUp()
        for (const _ of [1, 2]) isPage(yield* opened(link), 200, "name=\"newPassword\"")
        isPage(yield* opened(link, browser), 200, "<button")
        assert.notInclude(String((yield* opened(link, browser)).body), "newPassword", "the browser that signed up")
        refused((yield* signIn(email)).answer, 403, "EMAIL_NOT_VERIFIED")
      }))

    it.effect("the link that verifies an address gives no account to a visitor who signed up with another person's address", () =>
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

    it.effect("the link that verifies an address leaves the password as it is in the browser that signed up", () =>
      Effect.gen(function*() {
        const { browser, email, link } = yield* signedUp()
        // A second sign-up belongs to the first account.
        yield* aVisitor(email, browser)
        const [stored] = yield* onDatabase((sql) =>
          sql<{ readonly kept: string }>`select sign_up_browser as kept from users where email = ${email}`
        )
        const nonce = browser.cookies.get("uc.sign_up")
        assert.deepInclude(nonce?.attributes, { httponly: true, samesite: "Lax" })
        assert.notInclude(stored?.kept, nonce?.value, "the nonce itself is stored")
        // The browser of another account is another browser.
        refused(
          yield* (yield* signedUp()).browser.post(path, { token: link.searchParams.get("token") }),
          400,
          "NEW_PASSWORD_REQUIRED"
        )
        assert.strictEqual((yield* browser.post(path, { token: link.searchParams.get("token") })).status, 200)
        assert.isFalse(browser.cookies.has("uc.sign_up"), "it is used up")
        assert.strictEqual((yield* signIn(email)).answer.status, 200)
      }))

    it.effect("the link that verifies an address is valid once: later it neither sets a password nor ends a session", () =>
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
          (yield* Effect.die("no sign-in"))
        assert.strictEqual(signIns.filter(({ answer }) => answer.status === 200).length, 1)
        isPage(yield* press(link, { newPassword: owners }), 200, "confirmed")
        isPage(yield* opened(second), 200, "confirmed")
        assert.isTrue(yield* isSignedIn(browser))
        assert.strictEqual((yield* signIn(email, owners)).answer.status, 401)
      }))

    it.effect("the link that verifies an address ends on a page, also when it is invalid or continues elsewhere", () =>
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

    it.effect("the link that verifies an address is confirmed on the page of the service or a trusted one, and on no other", () =>
      Effect.gen(function*() {
        const { email, link } = yield* signedUp()
        for (const origin of ["https://evil.example", "null"]) {
          const answer = yield* press(link, { newPassword: "another horse" }, { origin })
          assert.strictEqual(answer.status, 403, origin)
        }
        refused((yield* signIn(email, "another horse")).answer, 401, "INVALID_EMAIL_OR_PASSWORD")
      }))

    it.effect("the link that verifies an address comes with a sign-up cookie that does not subject programs to checks of origins", () =>
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

layer(testAppLayer({ email: { send: outbox.send }, auth: open }), live)(
  "everything that was set up before the address was verified",
  (it) => {
    it.effect("everything that was set up before the address was verified ends with it: sessions, second factor, keys and linked accounts", () =>
      Effect.gen(function*() {
        const visitor = yield* aVisitor()
        const { browser, email, userId } = visitor
        yield* become(visitor, "keeper")
        yield* onDatabase((sql) =>
          sql`insert into user_accounts (account_id, provider_id, user_id) values (${randomUUID()}, 'google', ${userId}::uuid)`
        )
        yield* setUpFactor(browser)
        const key = yield* browser.post("/api/auth/api-key/create", { name: "till" })
        assert.strictEqual(key.status, 200, JSON.stringify(key.body))

        yield* browser.post("/api/auth/send-verification-email", { email })
        assert.strictEqual(
          (yield* verify(yield* outbox.linkTo(email, "email-verification"), makeBrowser(), owners)).status,
          200
        )
        assert.isFalse(yield* isSignedIn(browser))
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

layer(testAppLayer({ email: { send: outbox.send }, auth: withPage }), live)(
  "a verification page of the shop",
  (it) => {
    it.effect("a verification page of the shop is the target of the link and verifies the address", () =>
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
  it("the nonce of a sign-up over https counts only under the name that no other host can plant", () => {
    const [own, planted] = ["a".repeat(43), "b".repeat(43)]
    assert.isUndefined(nonceOf(`uc.sign_up=${planted}`, true))
    assert.strictEqual(nonceOf(`uc.sign_up=${planted}; __Host-uc.sign_up=${own}`, true), own)
    assert.strictEqual(nonceOf(`uc.sign_up=${own}`, false), own)
  })
})
