import { assert, layer } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { signToken } from "../../src/domain/platform/access/SentCredential.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Browser, makeBrowser } from "../support/Browser.ts"
import { eventually } from "../support/Eventually.ts"
import { live, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, become, holderOf, isSignedIn, password, refused, setUpFactor, signIn, totp } from "./Visitors.ts"

const app = testAppLayer({ auth: { requireEmailVerification: false }, rateLimits: { signInPerEmail: 1_000 } })

const secret = Redacted.value(Option.getOrThrow(testSettings("postgres://nowhere/none").auth.secret))

const verify = (browser: Browser, code: string, more: object = {}) =>
  browser.post("/api/auth/two-factor/verify-totp", { code, ...more })

const useBackup = (browser: Browser, code: unknown) => browser.post("/api/auth/two-factor/verify-backup-code", { code })

/** A visitor with a second factor. */
const guarded = Effect.gen(function*() {
  const visitor = yield* aVisitor()
  return { ...visitor, ...yield* setUpFactor(visitor.browser) }
})

layer(app, live)("a second factor", (it) => {
  it.effect("a second factor is required from its first code on, which replaces the session and ends the others", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      refused(yield* browser.post("/api/auth/two-factor/enable", { password: "wrong" }), 400, "INVALID_PASSWORD")
      const enabled = yield* browser.post("/api/auth/two-factor/enable", { password })
      const [backup] = enabled.list("backupCodes")
      assert.deepStrictEqual([enabled.at("method"), enabled.list("backupCodes").length], ["totp", 10])
      assert.match(String(backup), /^\w{5}-\w{5}$/)
      const before = yield* signIn(email)
      assert.strictEqual(before.answer.at("twoFactorRedirect"), undefined)
      assert.strictEqual((yield* before.browser.get("/api/me/orders")).status, 200)

      refused(yield* verify(browser, "000000"), 401, "INVALID_CODE")
      const verified = yield* verify(browser, totp(enabled.text("totpURI")))
      assert.notStrictEqual(verified.text("token"), answer.text("token"))
      assert.isUndefined(yield* holderOf(answer.text("token")))
      assert.strictEqual(yield* holderOf(verified.text("token")), email)
      assert.deepStrictEqual([yield* isSignedIn(before.browser), yield* isSignedIn(browser)], [false, true])
      assert.strictEqual((yield* before.browser.get("/api/me/orders")).status, 401)
      yield* browser.post("/api/auth/update-user", { name: "Countess" })
      assert.isTrue(yield* isSignedIn(browser))
      const stored = JSON.stringify(yield* onDatabase((sql) => sql`select secret, backup_codes from two_factors`))
      assert.notInclude(stored, String(backup))
      assert.notInclude(stored, new URL(enabled.text("totpURI")).searchParams.get("secret") ?? "?")
    }))

  it.effect("a second factor is asked for after the password, and the session begins with its code", () =>
    Effect.gen(function*() {
      const { answer: before, email, uri } = yield* guarded
      const browser = makeBrowser()
      // Neither the challenge is a session, nor an ended one that was planted beside it.
      browser.plant("uc.session_token", encodeURIComponent(signToken(before.text("token"), secret)))
      const { answer } = yield* signIn(email, password, browser)
      assert.deepStrictEqual(answer.body, { twoFactorRedirect: true, twoFactorMethods: ["totp"] })
      assert.isNull(answer.headers.get("set-auth-token"))
      assert.strictEqual(browser.cookies.get("uc.two_factor")?.attributes["max-age"], "600")
      assert.isFalse(yield* isSignedIn(browser))
      const clean = yield* signIn(email)
      assert.deepStrictEqual([...clean.browser.cookies.keys()], ["uc.two_factor"])
      refused(yield* verify(browser, "000000"), 401, "INVALID_CODE")
      refused(yield* verify(makeBrowser(), totp(uri)), 401, "INVALID_TWO_FACTOR_COOKIE")
      assert.strictEqual((yield* verify(browser, totp(uri, 1))).status, 200)
      assert.isTrue(yield* isSignedIn(browser))
    }))

  it.effect("a second factor is not asked for on a trusted device", () =>
    Effect.gen(function*() {
      const { email, uri } = yield* guarded
      const { browser } = yield* signIn(email)
      yield* verify(browser, totp(uri, 1), { trustDevice: true })
      assert.strictEqual(browser.cookies.get("uc.trust_device")?.attributes["max-age"], "2592000")
      yield* browser.post("/api/auth/sign-out", {})
      assert.strictEqual((yield* signIn(email, password, browser)).answer.at("user.email"), email)
      assert.strictEqual((yield* signIn(email)).answer.at("twoFactorRedirect"), true)
    }))

  it.effect("a second factor is replaced by a backup code, each of which is valid once", () =>
    Effect.gen(function*() {
      const { codes, email } = yield* guarded
      const use = (code: unknown) => Effect.flatMap(signIn(email), ({ browser }) => useBackup(browser, code))
      assert.strictEqual((yield* use(codes[0])).status, 200)
      refused(yield* use(codes[0]), 401, "INVALID_BACKUP_CODE")
      const { browser } = yield* signIn(email)
      yield* useBackup(browser, codes[1])
      const fresh = yield* browser.post("/api/auth/two-factor/generate-backup-codes", { password })
      assert.strictEqual(fresh.list("backupCodes").length, 10)
      refused(yield* use(codes[2]), 401, "INVALID_BACKUP_CODE")
      assert.strictEqual((yield* use(fresh.list("backupCodes")[0])).status, 200)
    }))

  it.effect("a second factor accepts each code once, also of several requests at once", () =>
    Effect.gen(function*() {
      const { browser, code, codes, email, uri } = yield* guarded
      const first = yield* signIn(email)
      refused(yield* verify(first.browser, code), 401, "INVALID_CODE")
      assert.isFalse(yield* isSignedIn(first.browser))

      const next = totp(uri, 1)
      const rivals = yield* Effect.all([signIn(email), signIn(email), signIn(email)])
      const raced = yield* Effect.all(rivals.map((rival) => verify(rival.browser, next)), { concurrency: "unbounded" })
      assert.deepStrictEqual(raced.map(({ status }) => status).sort(), [200, 401, 401])
      const sessions = yield* Effect.all(rivals.map((rival) => isSignedIn(rival.browser)))
      assert.strictEqual(sessions.filter((so) => so).length, 1)
      refused(yield* verify(browser, next), 401, "INVALID_CODE")

      const others = yield* Effect.all([signIn(email), signIn(email), signIn(email)])
      const used = yield* Effect.all(others.map((other) => useBackup(other.browser, codes[3])), {
        concurrency: "unbounded"
      })
      assert.strictEqual(used.filter(({ status }) => status === 200).length, 1)
    }))

  it.effect("a second factor does not accept a code again that a session has shown", () =>
    Effect.gen(function*() {
      const { browser, email, uri } = yield* guarded
      const next = totp(uri, 1)
      assert.strictEqual((yield* verify(browser, next)).status, 200)
      refused(yield* verify((yield* signIn(email)).browser, next), 401, "INVALID_CODE")
    }))

  it.effect("a second factor is locked after ten wrong codes", () =>
    Effect.gen(function*() {
      const { email, uri } = yield* guarded
      const answers: Array<string> = []
      for (let attempt = 0; attempt < 12; attempt++) {
        answers.push(String((yield* verify((yield* signIn(email)).browser, "000000")).at("code")))
      }
      assert.deepStrictEqual(answers.slice(0, 9), Array.from({ length: 9 }, () => "INVALID_CODE"))
      assert.strictEqual(answers.at(-1), "ACCOUNT_TEMPORARILY_LOCKED")
      refused(yield* verify((yield* signIn(email)).browser, totp(uri)), 429, "ACCOUNT_TEMPORARILY_LOCKED")
    }))

  it.effect("a second factor is disabled with the password alone, which replaces the session again", () =>
    Effect.gen(function*() {
      const { browser, email, token } = yield* guarded
      refused(yield* browser.post("/api/auth/two-factor/disable", { password: "wrong" }), 400, "INVALID_PASSWORD")
      assert.strictEqual((yield* browser.post("/api/auth/two-factor/disable", { password })).status, 200)
      assert.notStrictEqual((yield* browser.get("/api/auth/get-session")).at("session.token"), token)
      assert.strictEqual((yield* signIn(email)).answer.at("user.email"), email)
    }))

  it.effect("a second factor is not offered by mail", () =>
    Effect.gen(function*() {
      const { browser } = yield* signIn((yield* guarded).email)
      refused(yield* browser.post("/api/auth/two-factor/send-otp", {}), 400, "OTP_NOT_CONFIGURED")
    }))
})

layer(
  testAppLayer({ auth: { requireEmailVerification: false, twoFactor: { requiredForRoles: ["admin"] } } }),
  live
)("a role that requires a second factor", (it) => {
  it.effect("a second factor permits nothing but its set-up, and then everything", () =>
    Effect.gen(function*() {
      const member = yield* aVisitor()
      const { browser, userId } = member
      const orders = browser.get("/api/orders")
      assert.strictEqual((yield* orders).status, 403)
      yield* become(member, "admin")
      for (const path of ["/api/orders", "/api/catalog/entities"]) {
        const answer = yield* eventually(
          "the membership to count",
          Effect.map(browser.get(path), (found) => found.at("error.code") === "TWO_FACTOR_REQUIRED" ? found : undefined)
        )
        assert.strictEqual(answer.status, 403, path)
      }
      assert.strictEqual((yield* browser.get("/api/auth/get-session")).at("user.id"), userId)
      yield* setUpFactor(browser)
      assert.strictEqual((yield* orders).status, 200)
      yield* browser.post("/api/auth/two-factor/disable", { password })
      assert.strictEqual((yield* orders).at("error.code"), "TWO_FACTOR_REQUIRED")
      assert.strictEqual((yield* (yield* aVisitor()).browser.get("/api/catalog/entities")).status, 200)
    }))
})
