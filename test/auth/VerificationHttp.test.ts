import { assert, layer } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { request } from "node:http"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { atOnce } from "../support/AtOnce.ts"
import { makeBrowser, shopOrigin } from "../support/Browser.ts"
import { api, appBeside, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, makeOutbox, newEmail, password, refused, signIn, verify } from "./Visitors.ts"

const outbox = makeOutbox()
const deployment = {
  email: { send: outbox.send },
  auth: { socialProviders: { google: { clientId: "shop", clientSecret: "a secret of the shop's" } } }
}

/** As in production: cookies for https alone. */
const auth = {
  ...testSettings("postgres://nowhere/none", deployment).auth,
  secret: Option.some(Redacted.make("another secret that is long enough")),
  secureCookies: true,
  sessionCookie: "__Secure-uc.session_token"
}
const app = testAppLayer(deployment, { auth })

/** The path and query of a link, as a browser opens it that comes from a mail. */
const opened = (link: URL) => makeBrowser().get(`${link.pathname}${link.search}`)

const location = (answer: { readonly headers: Headers }): string => answer.headers.get("location") ?? ""

/** Sends a request under a host of the client's choice. */
const underHost = Effect.fnUntraced(function*(host: string, path: string, body: object) {
  const { url } = yield* TestApp
  return yield* Effect.promise(() =>
    new Promise<number>((resolve, reject) => {
      const sent = request(`${url}${path}`, { method: "POST", headers: { host, "content-type": "application/json" } })
      sent.once("response", (answer) => resolve(answer.resume().statusCode ?? 0)).once("error", reject)
      sent.end(JSON.stringify(body))
    })
  )
})

layer(app, live)("addresses", (it) => {
  it.effect("addresses are verified by a link before a sign-in", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      assert.deepStrictEqual([answer.status, answer.at("token")], [200, null])
      assert.deepStrictEqual([...browser.cookies.keys()], ["__Host-uc.sign_up"], "no session yet")
      refused((yield* signIn(email)).answer, 403, "EMAIL_NOT_VERIFIED")
      refused((yield* signIn(email, "wrong horse")).answer, 401, "INVALID_EMAIL_OR_PASSWORD")

      const link = yield* outbox.linkTo(email, "email-verification")
      assert.strictEqual(link.pathname, "/api/auth/verify-email")
      const forged = new URL(link)
      forged.searchParams.set("token", `${link.searchParams.get("token")}x`)
      refused(yield* verify(forged), 401, "INVALID_TOKEN")
      refused((yield* signIn(email)).answer, 403, "EMAIL_NOT_VERIFIED")

      const verified = yield* verify(link)
      assert.deepStrictEqual([verified.status, verified.body], [200, { status: true }])
      const { answer: signedIn, browser: own } = yield* signIn(email)
      assert.deepStrictEqual([signedIn.status, signedIn.at("user.emailVerified")], [200, true])
      assert.deepInclude(own.cookies.get("__Secure-uc.session_token")?.attributes, { secure: true, httponly: true })
    }))

  it.effect("addresses get the same answer whether they are taken or free", () =>
    Effect.gen(function*() {
      const first = yield* aVisitor()
      const again = yield* aVisitor(first.email)
      assert.notStrictEqual(again.userId, first.userId)
      assert.strictEqual(again.answer.status, 200)
      assert.sameMembers(
        Object.keys(Object(again.answer.at("user"))),
        Object.keys(Object(first.answer.at("user")))
      )
      const email = newEmail()
      const one = makeBrowser().post("/api/auth/sign-up/email", { name: "Ada", email, password })
      const racing = yield* Effect.all(Array.from({ length: 5 }, () => one), { concurrency: "unbounded" })
      assert.deepStrictEqual(racing.map(({ status }) => status), [200, 200, 200, 200, 200])
      const there = yield* onDatabase((sql) => sql`select 1 from users where email = ${email}`)
      assert.strictEqual(there.length, 1)
    }))

  it.effect("addresses get the link again on request, with an answer that reveals no account", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      yield* outbox.linkTo(email, "email-verification")
      const again = yield* api("POST", "/api/auth/send-verification-email", { body: { email } })
      const unknown = yield* api("POST", "/api/auth/send-verification-email", { body: { email: newEmail() } })
      assert.deepStrictEqual([again.body, unknown.body], [{ status: true }, { status: true }])
      yield* verify(yield* outbox.linkTo(email, "email-verification"))
      assert.strictEqual((yield* signIn(email)).answer.status, 200)
    }))

  it.effect("addresses get a link for a new password, which is valid once and ends all sessions", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      yield* verify(yield* outbox.linkTo(email, "email-verification"))
      const { browser } = yield* signIn(email)
      const asked = yield* api("POST", "/api/auth/request-password-reset", { body: { email, redirectTo: "/new" } })
      const unknown = yield* api("POST", "/api/auth/request-password-reset", { body: { email: newEmail() } })
      assert.deepStrictEqual([asked.status, asked.body], [unknown.status, unknown.body])

      const link = yield* outbox.linkTo(email, "password-reset")
      const landing = new URL(location(yield* opened(link)), link)
      assert.strictEqual(landing.pathname, "/new")
      const token = landing.searchParams.get("token") ?? ""
      const stored = yield* onDatabase((sql) => sql`select 1 from verifications where identifier like ${`%${token}%`}`)
      assert.strictEqual(stored.length, 0, "the token itself is stored")

      refused(
        yield* api("POST", "/api/auth/reset-password", { body: { token, newPassword: "short" } }),
        400,
        "PASSWORD_TOO_SHORT"
      )
      // Of two processes, each of which lets one at a time come as far as the token.
      const four = (first: number) =>
        Effect.all(
          Array.from(
            { length: 4 },
            (_, use) =>
              api("POST", "/api/auth/reset-password", { body: { token, newPassword: `new horse ${first + use}` } })
          ),
          { concurrency: "unbounded" }
        )
      const beside = yield* appBeside(deployment)
      const uses = (yield* atOnce(
        (sql) => sql`select 1 from verifications for update`,
        [four(0), Effect.provideService(four(4), TestApp, beside)]
      )).flat()
      const statuses = uses.map(({ status }) => status).toSorted()
      assert.deepStrictEqual(statuses, [200, 400, 400, 400, 400, 400, 400, 400])
      assert.isNull((yield* browser.get("/api/auth/get-session")).body)
      refused((yield* signIn(email)).answer, 401, "INVALID_EMAIL_OR_PASSWORD")
      const winner = uses.findIndex(({ status }) => status === 200)
      assert.strictEqual((yield* signIn(email, `new horse ${winner}`)).answer.status, 200)
      const used = yield* opened(link)
      assert.strictEqual(new URL(location(used), link).searchParams.get("error"), "INVALID_TOKEN")
    }))

  it.effect("addresses get at most five mails of a kind in a quarter of an hour, and the answers do not show it", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      const sentOf = (template: string) =>
        Effect.map(
          onDatabase((sql) =>
            sql`select 1 from commerce_jobs where task_slug = 'mail/send' and input->>'template' = ${template}`
          ),
          ({ length }) => length
        )
      for (
        const [path, template, count] of [
          ["request-password-reset", "password-reset", 5],
          // The sign-up sent one.
          ["send-verification-email", "email-verification", 4]
        ] as const
      ) {
        const ask = (to: string) => api("POST", `/api/auth/${path}`, { body: { email: to } })
        const unknown = yield* ask(newEmail())
        const before = yield* sentOf(template)
        const spellings = [email, email.toUpperCase()]
        const answers = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, turn) => spellings[turn % 2] ?? email),
          ask,
          { concurrency: 4 }
        )
        assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200], path)
        for (const answer of answers) assert.deepStrictEqual(answer.body, unknown.body)
        assert.strictEqual((yield* sentOf(template)) - before, count, path)
      }
    }))

  it.effect("addresses get links for a new password that expire after an hour", () =>
    Effect.gen(function*() {
      const { email, userId } = yield* aVisitor()
      yield* api("POST", "/api/auth/request-password-reset", { body: { email, redirectTo: "/new" } })
      const link = yield* outbox.linkTo(email, "password-reset")
      const token = link.pathname.split("/").at(-1) ?? ""
      const rows = yield* onDatabase((sql) =>
        sql<{ readonly left: number }>`select extract(epoch from expires_at - now())::int as left from verifications
          where value = ${userId}`
      )
      assert.isTrue(rows.every(({ left }) => left > 3_500 && left <= 3_600))
      yield* onDatabase((sql) => sql`update verifications set expires_at = now() where value = ${userId}`)
      refused(
        yield* api("POST", "/api/auth/reset-password", { body: { token, newPassword: "a new horse" } }),
        400,
        "INVALID_TOKEN"
      )
    }))

  it.effect("addresses redirect to trusted pages alone, however another address is written", () =>
    Effect.gen(function*() {
      const untrusted = [
        "/..//evil.example",
        "/.//evil.example",
        "/a/../..//evil.example",
        "//evil.example",
        "/\\evil.example",
        "/%2f%2fevil.example",
        "/%5cevil.example",
        "/\t/evil.example",
        "https://evil.example",
        "https:evil.example",
        "http://127.0.0.1@evil.example/",
        "javascript:alert(1)"
      ]
      for (const address of untrusted) {
        const asked = encodeURIComponent(address)
        for (const path of [`reset-password/x?callbackURL=${asked}`, `verify-email?token=x&callbackURL=${asked}`]) {
          refused(yield* makeBrowser().get(`/api/auth/${path}`), 403, "INVALID_CALLBACK_URL")
        }
        for (
          const [field, code] of [
            ["callbackURL", "INVALID_CALLBACK_URL"],
            ["errorCallbackURL", "INVALID_ERROR_CALLBACK_URL"],
            ["newUserCallbackURL", "INVALID_NEW_USER_CALLBACK_URL"]
          ] as const
        ) {
          const body = { provider: "google", [field]: address }
          refused(yield* makeBrowser().post("/api/auth/sign-in/social", body), 403, code)
        }
        const signInBody = { email: newEmail(), password, callbackURL: address }
        refused(yield* makeBrowser().post("/api/auth/sign-in/email", signInBody), 403, "INVALID_CALLBACK_URL")
        const reset = { email: newEmail(), redirectTo: address }
        refused(yield* makeBrowser().post("/api/auth/request-password-reset", reset), 403, "INVALID_REDIRECT_URL")
      }
      for (const trusted of ["/welcome?next=https://evil.example", "http://localhost:3000/a//b#c"]) {
        const answer = yield* makeBrowser().get(`/api/auth/reset-password/x?callbackURL=${encodeURIComponent(trusted)}`)
        assert.strictEqual(new URL(location(answer)).pathname, new URL(trusted, location(answer)).pathname)
      }
    }))

  it.effect("addresses of a provider are verified by a redirect there and back", () =>
    Effect.gen(function*() {
      const browser = makeBrowser()
      const start = yield* browser.post("/api/auth/sign-in/social", { provider: "google", callbackURL: "/welcome" })
      const there = new URL(start.text("url"))
      const { url } = yield* TestApp
      assert.deepStrictEqual([start.status, start.at("redirect"), location(start)], [200, true, there.href])
      assert.strictEqual(there.origin, "https://accounts.google.com")
      assert.strictEqual(there.searchParams.get("code_challenge_method"), "S256")
      assert.strictEqual(there.searchParams.get("redirect_uri"), `${url}/api/auth/callback/google`)
      assert.notInclude(there.href, "a+secret")
      assert.isTrue([...browser.cookies.keys()].some((name) => name.endsWith("uc.state")))
      const back = yield* makeBrowser().get("/api/auth/callback/google?code=x&state=forged")
      assert.strictEqual(back.status, 302)
      assert.match(location(back), /\/api\/auth\/error\?error=/)
      assert.match(
        (yield* browser.get("/api/auth/error?error=state_mismatch")).headers.get("content-type") ?? "",
        /html/
      )
      for (const provider of ["github", "unknown"]) {
        refused(yield* browser.post("/api/auth/sign-in/social", { provider }), 404, "PROVIDER_NOT_FOUND")
      }
      refused(
        yield* browser.post("/api/auth/sign-in/social", { provider: "google", callbackURL: "https://evil.example" }),
        403,
        "INVALID_CALLBACK_URL"
      )
    }))
})

layer(testAppLayer(deployment, { auth: { ...auth, trustedOrigins: [shopOrigin] }, environment: "production" }), live)(
  "addresses in production",
  (it) => {
    it.effect("addresses in production get links to the deployment, whichever host a request names", () =>
      Effect.gen(function*() {
        const { email } = yield* aVisitor()
        assert.strictEqual(yield* underHost("evil.example", "/api/auth/request-password-reset", { email }), 200)
        assert.strictEqual((yield* outbox.linkTo(email, "password-reset")).hostname, "127.0.0.1")
        const body = { email, redirectTo: "https://evil.example/new" }
        refused(yield* api("POST", "/api/auth/request-password-reset", { body }), 403, "INVALID_REDIRECT_URL")
      }))
  }
)
