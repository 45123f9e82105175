import { assert, layer } from "@effect/vitest"
import { hashPassword } from "better-auth/crypto"
import { Effect, Fiber, Option, Redacted } from "effect"
import { signToken, tokenDigest } from "../../src/domain/platform/access/SentCredential.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { api, at, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, holderOf, newEmail, password, refused, signIn } from "./Visitors.ts"

const cookieName = "uc.session_token"
const secret = Redacted.value(Option.getOrThrow(testSettings("postgres://nowhere/none").auth.secret))

const app = testAppLayer(
  {
    auth: { requireEmailVerification: false, trustedOrigins: ["https://shop.example"] },
    rateLimits: { signInPerEmail: 1_000 }
  },
  { logLevel: "none" }
)

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** Whether a token opens a session without any cookie. */
const isAlive = (token: string) => Effect.map(holderOf(token), (email) => email !== undefined)

layer(app, live)("sessions", (it) => {
  it.effect("sessions begin with the sign-up, for seven days, in a cookie that scripts cannot read", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor(newEmail().toUpperCase())
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.at("user.email"), email.toLowerCase())
      assert.match(answer.text("user.id"), /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
      assert.deepStrictEqual(browser.cookies.get(cookieName)?.attributes, {
        "max-age": "604800",
        path: "/",
        httponly: true,
        samesite: "Lax"
      })
      const session = yield* browser.get("/api/auth/get-session")
      assert.strictEqual(session.at("user.id"), answer.at("user.id"))
      assert.strictEqual(session.at("session.token"), answer.at("token"))
      assert.strictEqual(session.at("session.ipAddress"), "127.0.0.1")
      assert.isUndefined(session.at("user.posOperatorPin"))
      assert.isNull((yield* api("GET", "/api/auth/get-session")).body)
    }))

  it.effect("sessions are created with the right password alone", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      const { answer, browser } = yield* signIn(email)
      assert.deepStrictEqual([answer.status, answer.at("redirect"), answer.at("user.email")], [200, false, email])
      const signed = decodeURIComponent(browser.cookies.get(cookieName)?.value ?? "")
      assert.strictEqual(answer.headers.get("set-auth-token"), signed)
      for (const token of [answer.text("token"), signed, encodeURIComponent(signed)]) {
        assert.isTrue(yield* isAlive(token), token)
      }
      assert.isFalse(yield* isAlive(`${answer.text("token")}.${"A".repeat(43)}=`))

      const wrong = (yield* signIn(email, "wrong horse")).answer
      const unknown = (yield* signIn(newEmail())).answer
      refused(wrong, 401, "INVALID_EMAIL_OR_PASSWORD")
      assert.deepStrictEqual([unknown.status, unknown.body], [wrong.status, wrong.body])
      refused(yield* api("POST", "/api/auth/sign-in/email", { body: "{" }), 400, "BAD_REQUEST")
      refused(yield* api("POST", "/api/auth/sign-in/email", { body: { email: 1 } }), 400, "VALIDATION_ERROR")
    }))

  it.effect("sessions delay no other request when many begin at once", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      const rush = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 150 }, () => signIn(email)), { concurrency: "unbounded" })
      )
      const visits = Array.from({ length: 5 }, () => api("GET", "/api/catalog/entities"))
      for (const { status } of yield* Effect.all(visits, { concurrency: "unbounded" })) assert.strictEqual(status, 200)
      assert.isUndefined(rush.pollUnsafe(), "visitors were served after the sign-ins")
      assert.isTrue((yield* Fiber.join(rush)).every(({ answer }) => answer.status === 200))
    }))

  it.effect("sessions begin with one account for an address, however many sign-ups arrive at once", () =>
    Effect.gen(function*() {
      const email = newEmail()
      const one = makeBrowser().post("/api/auth/sign-up/email", { name: "Ada", email, password })
      const answers = yield* Effect.all(Array.from({ length: 6 }, () => one), { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 422, 422, 422, 422, 422])
      for (const answer of answers.filter(({ status }) => status === 422)) {
        refused(answer, 422, "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL")
      }
      refused(
        yield* makeBrowser().post("/api/auth/sign-up/email", { name: "Eve", email: email.toUpperCase(), password }),
        422,
        "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL"
      )
      const accounts = yield* onDatabase((sql) =>
        sql`select 1 from user_accounts a join users u on u.id = a.user_id
        where u.email = ${email}`
      )
      assert.strictEqual(accounts.length, 1)
      for (const [secret, code] of [["short", "PASSWORD_TOO_SHORT"], ["x".repeat(129), "PASSWORD_TOO_LONG"]] as const) {
        const body = { name: "Ada", email: newEmail(), password: secret }
        refused(yield* makeBrowser().post("/api/auth/sign-up/email", body), 400, code)
      }
    }))

  it.effect("sessions begin with no common password, on whichever route it is chosen", () =>
    Effect.gen(function*() {
      const { browser } = yield* aVisitor()
      for (const common of ["password", "Password1", "IloveYou", "12345678", "qwertyuiop", "football"]) {
        const signUp = { name: "Ada", email: newEmail(), password: common }
        refused(yield* makeBrowser().post("/api/auth/sign-up/email", signUp), 400, "PASSWORD_TOO_COMMON")
        const change = { currentPassword: password, newPassword: common }
        refused(yield* browser.post("/api/auth/change-password", change), 400, "PASSWORD_TOO_COMMON")
        const reset = { token: "x", newPassword: common }
        refused(yield* makeBrowser().post("/api/auth/reset-password", reset), 400, "PASSWORD_TOO_COMMON")
        refused((yield* signIn(signUp.email, common)).answer, 401, "INVALID_EMAIL_OR_PASSWORD")
      }
    }))

  it.effect("sessions begin with a new token, whichever token was planted, made up or left open before", () =>
    Effect.gen(function*() {
      const attacker = yield* aVisitor()
      const madeUp = "AttackersOwnTokenOf32Characters1"
      const { answer: left, browser: over } = yield* aVisitor()
      yield* over.post("/api/auth/sign-out", {})
      for (const token of [attacker.answer.text("token"), madeUp, left.text("token")]) {
        for (const value of [token, encodeURIComponent(signToken(token, secret))]) {
          const { email } = yield* aVisitor()
          const victim = makeBrowser()
          victim.plant(cookieName, value)
          const { answer } = yield* signIn(email, password, victim)
          assert.strictEqual(answer.status, 200)
          const first = victim.cookies.get(cookieName)?.value
          assert.notStrictEqual(answer.text("token"), token)
          assert.notStrictEqual(first, value)
          assert.strictEqual((yield* victim.get("/api/auth/get-session")).at("user.email"), email)
          assert.notStrictEqual(yield* holderOf(token), email)
          yield* signIn(email, password, victim)
          assert.notStrictEqual(victim.cookies.get(cookieName)?.value, first)
        }
      }
      const rows = yield* onDatabase((sql) =>
        sql`select 1 from sessions where token in (${madeUp}, ${tokenDigest(madeUp)})`
      )
      assert.strictEqual(rows.length, 0)
      assert.strictEqual(yield* holderOf(attacker.answer.text("token")), attacker.email)
    }))

  it.effect("sessions end with the sign-out, by cookie and by bearer token", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      const stolen = makeBrowser()
      for (const [name, { value }] of browser.cookies) stolen.plant(name, value)
      assert.deepStrictEqual((yield* browser.post("/api/auth/sign-out", {})).body, { success: true })
      assert.isFalse(browser.cookies.has(cookieName))
      assert.isNull((yield* stolen.get("/api/auth/get-session")).body)
      assert.isFalse(yield* isAlive(answer.text("token")))
      const { answer: again } = yield* signIn(email)
      assert.strictEqual((yield* api("POST", "/api/auth/sign-out", bearer(again.text("token")))).status, 200)
      assert.isFalse(yield* isAlive(again.text("token")))
    }))

  it.effect("sessions survive a sign-out that fails in the database, which does not report success", () =>
    Effect.gen(function*() {
      const { answer, browser } = yield* aVisitor()
      yield* onDatabase((sql) =>
        sql`create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'no'; end $$`
      )
      yield* onDatabase((sql) =>
        sql`create trigger refusing before delete on sessions for each row execute function refuse()`
      )
      const refusal = yield* browser.post("/api/auth/sign-out", {})
      yield* onDatabase((sql) => sql`drop trigger refusing on sessions`)
      assert.strictEqual(refusal.status, 500)
      assert.deepStrictEqual(refusal.body, {
        error: { code: "INTERNAL_ERROR", message: "An unexpected error occurred." }
      })
      assert.isTrue(yield* isAlive(answer.text("token")))
    }))

  it.effect("sessions are stored and listed without their tokens, and end by their ids", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      const [other, foreign] = [yield* signIn(email), yield* aVisitor()]
      const tokens = [answer.text("token"), other.answer.text("token")]
      const listed = yield* browser.get("/api/auth/list-sessions")
      const rows = yield* onDatabase((sql) =>
        sql<{ readonly id: string; readonly token: string; readonly row: string }>`
          select s.id::text, s.token, s::text as row from sessions s join users u on u.id = s.user_id
          where u.email = ${email} order by s.created_at`
      )
      for (const token of tokens) assert.notInclude(JSON.stringify([rows, listed.body]), token)
      const ids = Object.values(Object(listed.body)).map((session) => at(session, "token"))
      assert.sameMembers(ids, rows.map(({ id }) => id))

      const open = (bearer: string) => api("GET", "/api/me/orders", { headers: { authorization: `Bearer ${bearer}` } })
      for (const { id, token } of rows) {
        assert.deepStrictEqual([yield* isAlive(token), yield* isAlive(id)], [false, false])
        assert.deepStrictEqual([(yield* open(token)).status, (yield* open(id)).status], [401, 401])
      }

      const [own, others] = rows.map(({ id }) => ({ token: id }))
      for (const body of [others, { token: tokens[1] }]) yield* foreign.browser.post("/api/auth/revoke-session", body)
      assert.isTrue(yield* isAlive(tokens[1] ?? ""))
      yield* api("POST", "/api/auth/revoke-session", { ...bearer(tokens[0] ?? ""), body: others })
      assert.deepStrictEqual(yield* Effect.forEach(tokens, isAlive), [true, false])
      yield* browser.post("/api/auth/revoke-session", own)
      assert.deepStrictEqual(yield* Effect.forEach(tokens, isAlive), [false, false])
    }))

  it.effect("a user lists the ways to sign in", () =>
    Effect.gen(function*() {
      const { browser } = yield* aVisitor()
      assert.strictEqual((yield* browser.get("/api/auth/list-accounts")).at("0.providerId"), "credential")
      refused(yield* makeBrowser().get("/api/auth/list-accounts"), 401, "UNAUTHORIZED")
    }))

  it.effect("sessions end one by one, all but the current one, or all", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      const others = yield* Effect.forEach([1, 2, 3], () => signIn(email))
      const tokens = [answer, ...others.map((other) => other.answer)].map((one) => one.text("token"))
      assert.strictEqual(Object.keys(Object((yield* browser.get("/api/auth/list-sessions")).body)).length, 4)
      refused(yield* makeBrowser().get("/api/auth/list-sessions"), 401, "UNAUTHORIZED")
      yield* browser.post("/api/auth/revoke-session", { token: tokens[1] })
      assert.deepStrictEqual(yield* Effect.forEach(tokens, isAlive), [true, false, true, true])
      yield* browser.post("/api/auth/revoke-other-sessions", {})
      assert.deepStrictEqual(yield* Effect.forEach(tokens, isAlive), [true, false, false, false])
      yield* browser.post("/api/auth/revoke-sessions", {})
      assert.isFalse(yield* isAlive(tokens[0] ?? ""))
    }))

  it.effect("sessions expire, and are renewed after a day", () =>
    Effect.gen(function*() {
      const { answer, browser } = yield* aVisitor()
      const token = answer.text("token")
      const expireIn = (seconds: number) =>
        onDatabase((sql) =>
          sql`update sessions set expires_at = now() + ${seconds}::int * interval '1 second'
          where token = ${tokenDigest(token)}`
        )
      yield* expireIn(604_800 - 86_000)
      assert.isNull((yield* browser.get("/api/auth/get-session")).headers.get("set-cookie"))
      yield* expireIn(604_800 - 86_500)
      const before = Date.now()
      const renewed = yield* browser.get("/api/auth/get-session")
      assert.match(renewed.headers.get("set-cookie") ?? "", /^uc\.session_token=.*Max-Age=604800/)
      assert.isAtLeast(Date.parse(renewed.text("session.expiresAt")), before + 604_000_000)
      yield* expireIn(-1)
      assert.isFalse(yield* isAlive(token))
    }))

  it.effect("sessions end with the browser without \"remember me\"", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      const browser = makeBrowser()
      yield* browser.post("/api/auth/sign-in/email", { email, password, rememberMe: false })
      assert.isUndefined(browser.cookies.get(cookieName)?.attributes["max-age"])
      assert.isTrue(browser.cookies.has("uc.dont_remember"))
    }))

  it.effect("sessions stay after a new password that does not end the others, and are replaced after one that does", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      const tokens = [answer.text("token"), (yield* signIn(email)).answer.text("token")]
      const change = (currentPassword: string, newPassword: string, revokeOtherSessions: boolean) =>
        browser.post("/api/auth/change-password", { currentPassword, newPassword, revokeOtherSessions })
      refused(yield* change("wrong horse", "another horse", true), 400, "INVALID_PASSWORD")
      assert.isNull((yield* change(password, "another horse", false)).at("token"))
      assert.deepStrictEqual(yield* Effect.forEach(tokens, holderOf), [email, email])
      const replaced = (yield* change("another horse", "a third horse", true)).text("token")
      assert.deepStrictEqual(yield* Effect.forEach([...tokens, replaced], holderOf), [undefined, undefined, email])
      refused((yield* signIn(email)).answer, 401, "INVALID_EMAIL_OR_PASSWORD")
      assert.strictEqual((yield* signIn(email, "a third horse")).answer.status, 200)
    }))

  it.effect("sessions let their user change the name and picture and no other field", () =>
    Effect.gen(function*() {
      const { browser, userId } = yield* aVisitor()
      yield* onDatabase((sql) => sql`update users set pos_operator_pin = '1234' where id = ${userId}::uuid`)
      const changed = yield* browser.post("/api/auth/update-user", { name: "Countess", image: "https://img.example/a" })
      assert.deepStrictEqual(changed.body, { status: true })
      for (const field of ["emailVerified", "twoFactorEnabled", "vendorId", "posOperatorPin", "email"]) {
        yield* browser.post("/api/auth/update-user", { name: "Countess", [field]: "true" })
      }
      const session = yield* browser.get("/api/auth/get-session")
      assert.deepStrictEqual(
        [session.at("user.name"), session.at("user.emailVerified"), session.at("user.twoFactorEnabled")],
        ["Countess", false, false]
      )
      assert.isNull(session.at("user.vendorId"))
      assert.notInclude(JSON.stringify(session.body), "1234")
      refused(yield* browser.post("/api/auth/change-email", { newEmail: newEmail() }), 400, "CHANGE_EMAIL_DISABLED")
      assert.strictEqual((yield* browser.post("/api/auth/delete-user", {})).status, 404)
    }))

  it.effect("sessions begin with a password that was hashed with scrypt, which is then hashed with argon2id", () =>
    Effect.gen(function*() {
      const { email, userId } = yield* aVisitor()
      const old = yield* Effect.promise(() => hashPassword("an older horse"))
      yield* onDatabase((sql) => sql`update user_accounts set password = ${old} where user_id = ${userId}::uuid`)
      refused((yield* signIn(email)).answer, 401, "INVALID_EMAIL_OR_PASSWORD")
      for (const _ of [1, 2]) assert.strictEqual((yield* signIn(email, "an older horse")).answer.status, 200)
      const [row] = yield* onDatabase((sql) =>
        sql<{ readonly password: string }>`select password from user_accounts where user_id = ${userId}::uuid`
      )
      assert.match(row?.password ?? "", /^\$argon2id\$/)
    }))

  it.effect("sessions have no undeclared routes, and too large bodies are not read", () =>
    Effect.gen(function*() {
      const { browser } = yield* aVisitor()
      for (
        const path of ["get-access-token", "update-session", "token", "api-key/verify", "organization/create-team"]
      ) {
        const answer = yield* browser.post(`/api/auth/${path}`, {})
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [404, "NOT_FOUND"], path)
      }
      const wrongMethod = yield* browser.call("GET", "/api/auth/sign-up/email")
      assert.deepStrictEqual([wrongMethod.status, wrongMethod.headers.get("allow")], [405, "POST"])
      const { url } = yield* TestApp
      const chunks = new ReadableStream({
        start: (controller) => {
          for (let sent = 0; sent < 12; sent++) controller.enqueue(new TextEncoder().encode("x".repeat(100_000)))
          controller.close()
        }
      })
      const headers = { "content-type": "application/json" }
      const large = yield* Effect.promise(() =>
        fetch(`${url}/api/auth/sign-in/email`, { method: "POST", body: chunks, duplex: "half", headers })
      )
      assert.strictEqual(large.status, 413)
      assert.deepStrictEqual((yield* api("GET", "/api/auth/ok")).body, { ok: true })
    }))

  it.effect("sessions have the address of the connection, whichever one the client claims", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      const headers = { "x-stoa-client-ip": "6.6.6.6", "x-forwarded-for": "6.6.6.6" }
      const answer = yield* api("POST", "/api/auth/sign-in/email", { headers, body: { email, password } })
      const session = yield* api("GET", "/api/auth/get-session", bearer(answer.text("token")))
      assert.strictEqual(session.at("session.ipAddress"), "127.0.0.1")
    }))
})
