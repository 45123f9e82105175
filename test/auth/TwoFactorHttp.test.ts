import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Browser, makeBrowser } from "../support/Browser.ts"
import { eventually } from "../support/Eventually.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { totp } from "./Authenticator.ts"
import { aVisitor, password, refused, signIn, type Visitor } from "./Visitors.ts"

const app = testAppLayer({ auth: { requireEmailVerification: false }, rateLimits: { signInPerEmail: 1_000 } })

const verify = (browser: Browser, code: string, more: object = {}) =>
  browser.post("/api/auth/two-factor/verify-totp", { code, ...more })

/** A visitor whose second factor counts. */
const guarded = Effect.gen(function*() {
  const visitor = yield* aVisitor()
  const enabled = yield* visitor.browser.post("/api/auth/two-factor/enable", { password })
  const uri = enabled.text("totpURI")
  const code = totp(uri)
  const verified = yield* verify(visitor.browser, code)
  assert.strictEqual(verified.status, 200)
  const found: Visitor & { uri: string; code: string; codes: ReadonlyArray<unknown>; token: string } = {
    ...visitor,
    uri,
    code,
    codes: enabled.list("backupCodes"),
    token: verified.text("token")
  }
  return found
})

const isSignedIn = (browser: Browser) => Effect.map(browser.get("/api/auth/get-session"), ({ body }) => body !== null)

layer(app, { excludeTestServices: true, timeout: "60 seconds" })("a second factor", (it) => {
  it.effect("counts from its first code, and the session is replaced then", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      refused(yield* browser.post("/api/auth/two-factor/enable", { password: "wrong" }), 400, "INVALID_PASSWORD")
      const enabled = yield* browser.post("/api/auth/two-factor/enable", { password })
      assert.strictEqual(enabled.at("method"), "totp")
      assert.strictEqual(enabled.list("backupCodes").length, 10)
      assert.match(String(enabled.list("backupCodes")[0]), /^\w{5}-\w{5}$/)
      assert.strictEqual((yield* signIn(email)).answer.at("twoFactorRedirect"), undefined)

      refused(yield* verify(browser, "000000"), 401, "INVALID_CODE")
      const verified = yield* verify(browser, totp(enabled.text("totpURI")))
      assert.notStrictEqual(verified.text("token"), answer.text("token"))
      const old = makeBrowser()
      old.plant("uc.session_token", answer.headers.getSetCookie()[0]?.split(/[=;]/)[1] ?? "")
      assert.isFalse(yield* isSignedIn(old))
      assert.isTrue(yield* isSignedIn(browser))
      const stored = yield* onDatabase((sql) =>
        sql<{ readonly secret: string; readonly backup_codes: string }>`select secret, backup_codes from two_factors`
      )
      assert.notInclude(JSON.stringify(stored), String(enabled.list("backupCodes")[0]))
      assert.notInclude(JSON.stringify(stored), new URL(enabled.text("totpURI")).searchParams.get("secret") ?? "?")
    }))

  it.effect("ends the other sessions of its user when it begins to count", () =>
    Effect.gen(function*() {
      const { browser, email } = yield* aVisitor()
      const before = yield* signIn(email)
      assert.strictEqual((yield* before.browser.get("/api/me/orders")).status, 200)
      const enabled = yield* browser.post("/api/auth/two-factor/enable", { password })
      assert.strictEqual((yield* verify(browser, totp(enabled.text("totpURI")))).status, 200)
      assert.deepStrictEqual([yield* isSignedIn(before.browser), yield* isSignedIn(browser)], [false, true])
      assert.strictEqual((yield* before.browser.get("/api/me/orders")).status, 401)

      yield* browser.post("/api/auth/update-user", { name: "Countess" })
      assert.isTrue(yield* isSignedIn(browser))
    }))

  it.effect("is asked for after the password, and the session begins with its code", () =>
    Effect.gen(function*() {
      const { email, uri } = yield* guarded
      const { answer, browser } = yield* signIn(email)
      assert.deepStrictEqual(answer.body, { twoFactorRedirect: true, twoFactorMethods: ["totp"] })
      assert.isNull(answer.headers.get("set-auth-token"))
      assert.deepStrictEqual([...browser.cookies.keys()], ["uc.two_factor"])
      assert.strictEqual(browser.cookies.get("uc.two_factor")?.attributes["max-age"], "600")
      assert.isFalse(yield* isSignedIn(browser))
      refused(yield* verify(browser, "000000"), 401, "INVALID_CODE")
      refused(yield* verify(makeBrowser(), totp(uri)), 401, "INVALID_TWO_FACTOR_COOKIE")
      assert.strictEqual((yield* verify(browser, totp(uri, 1))).status, 200)
      assert.isTrue(yield* isSignedIn(browser))
    }))

  it.effect("is not asked for on a device that is trusted", () =>
    Effect.gen(function*() {
      const { email, uri } = yield* guarded
      const { browser } = yield* signIn(email)
      yield* verify(browser, totp(uri, 1), { trustDevice: true })
      assert.strictEqual(browser.cookies.get("uc.trust_device")?.attributes["max-age"], "2592000")
      yield* browser.post("/api/auth/sign-out", {})
      assert.strictEqual((yield* signIn(email, password, browser)).answer.at("user.email"), email)
      assert.strictEqual((yield* signIn(email)).answer.at("twoFactorRedirect"), true)
    }))

  it.effect("that is lost is replaced by a backup code, each of which serves once", () =>
    Effect.gen(function*() {
      const { codes, email } = yield* guarded
      const use = Effect.fnUntraced(function*(code: unknown) {
        const { browser } = yield* signIn(email)
        return yield* browser.post("/api/auth/two-factor/verify-backup-code", { code })
      })
      assert.strictEqual((yield* use(codes[0])).status, 200)
      refused(yield* use(codes[0]), 401, "INVALID_BACKUP_CODE")
      const { browser } = yield* signIn(email)
      yield* browser.post("/api/auth/two-factor/verify-backup-code", { code: codes[1] })
      const fresh = yield* browser.post("/api/auth/two-factor/generate-backup-codes", { password })
      assert.strictEqual(fresh.list("backupCodes").length, 10)
      refused(yield* use(codes[2]), 401, "INVALID_BACKUP_CODE")
      assert.strictEqual((yield* use(fresh.list("backupCodes")[0])).status, 200)
    }))

  it.effect("accepts each code once, also of several requests at once", () =>
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
      const used = yield* Effect.all(
        others.map((other) => other.browser.post("/api/auth/two-factor/verify-backup-code", { code: codes[3] })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(used.filter(({ status }) => status === 200).length, 1)
    }))

  it.effect("accepts no code again that a session has shown", () =>
    Effect.gen(function*() {
      const { browser, email, uri } = yield* guarded
      const next = totp(uri, 1)
      assert.strictEqual((yield* verify(browser, next)).status, 200)
      const later = yield* signIn(email)
      refused(yield* verify(later.browser, next), 401, "INVALID_CODE")
    }))

  it.effect("is locked after ten wrong codes", () =>
    Effect.gen(function*() {
      const { email, uri } = yield* guarded
      const answers: Array<string> = []
      for (let attempt = 0; attempt < 12; attempt++) {
        const { browser } = yield* signIn(email)
        answers.push(String((yield* verify(browser, "000000")).at("code")))
      }
      assert.deepStrictEqual(answers.slice(0, 9), Array.from({ length: 9 }, () => "INVALID_CODE"))
      assert.strictEqual(answers.at(-1), "ACCOUNT_TEMPORARILY_LOCKED")
      const { browser } = yield* signIn(email)
      refused(yield* verify(browser, totp(uri)), 429, "ACCOUNT_TEMPORARILY_LOCKED")
    }))

  it.effect("is given up with the password alone, and the session is replaced again", () =>
    Effect.gen(function*() {
      const { browser, email, token } = yield* guarded
      refused(yield* browser.post("/api/auth/two-factor/disable", { password: "wrong" }), 400, "INVALID_PASSWORD")
      assert.strictEqual((yield* browser.post("/api/auth/two-factor/disable", { password })).status, 200)
      assert.notStrictEqual((yield* browser.get("/api/auth/get-session")).at("session.token"), token)
      assert.strictEqual((yield* signIn(email)).answer.at("user.email"), email)
    }))

  it.effect("by mail is not offered", () =>
    Effect.gen(function*() {
      const { email } = yield* guarded
      const { browser } = yield* signIn(email)
      refused(yield* browser.post("/api/auth/two-factor/send-otp", {}), 400, "OTP_NOT_CONFIGURED")
    }))
})

layer(
  testAppLayer({ auth: { requireEmailVerification: false, twoFactor: { requiredForRoles: ["admin"] } } }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a role that has to have a second factor", (it) => {
  it.effect("may do nothing but set it up, and then everything", () =>
    Effect.gen(function*() {
      const { browser, userId } = yield* aVisitor()
      const orders = browser.get("/api/orders")
      assert.strictEqual((yield* orders).status, 403)
      yield* onDatabase((sql) =>
        sql`insert into members (organization_id, user_id, role) values ('org_default', ${userId}::uuid, 'admin')`
      )
      for (const path of ["/api/orders", "/api/catalog/entities"]) {
        const answer = yield* eventually(
          "the membership to count",
          Effect.map(browser.get(path), (found) => found.at("error.code") === "TWO_FACTOR_REQUIRED" ? found : undefined)
        )
        assert.strictEqual(answer.status, 403, path)
      }
      assert.strictEqual((yield* browser.get("/api/auth/get-session")).at("user.id"), userId)
      const enabled = yield* browser.post("/api/auth/two-factor/enable", { password })
      yield* verify(browser, totp(enabled.text("totpURI")))
      assert.strictEqual((yield* orders).status, 200)
      yield* browser.post("/api/auth/two-factor/disable", { password })
      assert.strictEqual((yield* orders).at("error.code"), "TWO_FACTOR_REQUIRED")
      assert.strictEqual((yield* (yield* aVisitor()).browser.get("/api/catalog/entities")).status, 200)
    }))
})
