import { assert, layer } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { signToken } from "../../src/domain/access/SignedToken.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, testAppLayer } from "../support/TestApp.ts"
import { totp } from "./Authenticator.ts"
import { aVisitor, password, signIn } from "./Visitors.ts"

const app = testAppLayer({ auth: { requireEmailVerification: false }, rateLimits: { signInPerEmail: 1_000 } })

const cookieName = "uc.session_token"
const secret = Redacted.value(Option.getOrThrow(testSettings("postgres://nowhere/none").auth.secret))

/** Whose session a token opens; undefined for nobody's. */
const holderOf = (token: string) =>
  Effect.map(
    api("GET", "/api/auth/get-session", { headers: { authorization: `Bearer ${token}` } }),
    (answer) => answer.at("user.email")
  )

/** Orders are what a member of the staff may read and a customer may not. */
const mayRead = (token: string) =>
  Effect.map(api("GET", "/api/orders", { headers: { authorization: `Bearer ${token}` } }), ({ status }) => status)

const staff = (method: string, path: string, body?: object) =>
  api(method, `/api/admin/staff${path}`, { as: { ...asAdmin, role: "owner" }, ...body && { body } })

layer(app, { excludeTestServices: true, timeout: "60 seconds" })("a session", (it) => {
  it.effect("that somebody planted, made up or left open is not the one after a sign-in", () =>
    Effect.gen(function*() {
      const attacker = yield* aVisitor()
      const madeUp = "AttackersOwnTokenOf32Characters1"
      const { browser: over, answer: left } = yield* aVisitor()
      yield* over.post("/api/auth/sign-out", {})
      const planted = [attacker.answer.text("token"), madeUp, left.text("token")]
      for (const token of planted) {
        for (const value of [token, encodeURIComponent(signToken(token, secret))]) {
          const { email } = yield* aVisitor()
          const victim = makeBrowser()
          victim.plant(cookieName, value)
          const { answer } = yield* signIn(email, password, victim)
          assert.strictEqual(answer.status, 200)
          assert.notStrictEqual(answer.text("token"), token)
          assert.notStrictEqual(victim.cookies.get(cookieName)?.value, value)
          assert.strictEqual((yield* victim.get("/api/auth/get-session")).at("user.email"), email)
          assert.notStrictEqual(yield* holderOf(token), email)
        }
      }
      const rows = yield* onDatabase((sql) =>
        sql`select 1 from sessions where token in (${madeUp}, encode(sha256(${madeUp}::bytea), 'hex'))`
      )
      assert.strictEqual(rows.length, 0)
      assert.strictEqual(yield* holderOf(planted[0] ?? ""), attacker.email)
    }))

  it.effect("begun before a second factor counts does not serve as one that was begun with it", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      const before = answer.text("token")
      const enabled = yield* browser.post("/api/auth/two-factor/enable", { password })
      const verified = yield* browser.post("/api/auth/two-factor/verify-totp", { code: totp(enabled.text("totpURI")) })
      assert.isUndefined(yield* holderOf(before))
      assert.strictEqual(yield* holderOf(verified.text("token")), email)
      // The challenge of a sign-in is no session, and neither is what was planted beside it.
      const victim = makeBrowser()
      victim.plant(cookieName, encodeURIComponent(signToken(before, secret)))
      yield* signIn(email, password, victim)
      assert.isNull((yield* victim.get("/api/auth/get-session")).body)
    }))

  it.effect("has the rights of the role of the moment: given more or less, it is no other one", () =>
    Effect.gen(function*() {
      const { answer, userId } = yield* aVisitor()
      const token = answer.text("token")
      const becomes = (status: number) => eventually(`${status}`, Effect.map(mayRead(token), (now) => now === status))
      yield* becomes(403)
      yield* api("GET", "/api/me/profile", { headers: { authorization: `Bearer ${token}` } })
      const member = (yield* staff("POST", "", { userId, role: "staff" })).text("data.id")
      yield* becomes(200)
      assert.strictEqual((yield* staff("PATCH", `/${member}`, { role: "customer" })).status, 200)
      assert.strictEqual(yield* mayRead(token), 403)
      assert.strictEqual((yield* staff("PATCH", `/${member}`, { role: "staff" })).status, 200)
      assert.strictEqual(yield* mayRead(token), 200)
      assert.strictEqual((yield* staff("DELETE", `/${member}`)).status, 200)
      assert.strictEqual(yield* mayRead(token), 403)
    }))

  it.effect("is left alone by a new password that is not to end the others, and replaced by one that is", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      const other = (yield* signIn(email)).answer.text("token")
      const change = (currentPassword: string, newPassword: string, revokeOtherSessions: boolean) =>
        browser.post("/api/auth/change-password", { currentPassword, newPassword, revokeOtherSessions })
      assert.isNull((yield* change(password, "another horse", false)).at("token"))
      assert.deepStrictEqual([yield* holderOf(answer.text("token")), yield* holderOf(other)], [email, email])
      const replaced = (yield* change("another horse", "a third horse", true)).text("token")
      assert.deepStrictEqual([yield* holderOf(answer.text("token")), yield* holderOf(other)], [undefined, undefined])
      assert.strictEqual(yield* holderOf(replaced), email)
    }))
})
