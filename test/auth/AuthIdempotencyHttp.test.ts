import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Browser, makeBrowser } from "../support/Browser.ts"
import { type Answer, live, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, become, newEmail, password, refused, signIn } from "./Visitors.ts"

const app = testAppLayer({
  auth: { requireEmailVerification: false, allowOrganizationCreation: true },
  rateLimits: { signInPerEmail: 1_000 }
})

/** Sends a request under a key. */
const under = (key: string, browser: Browser, path: string, body: object) =>
  browser.call("POST", `/api/auth/${path}`, { body, headers: { "idempotency-key": key } })

const isSame = (one: Answer, other: Answer) => {
  assert.deepStrictEqual([other.status, other.body], [one.status, one.body])
  assert.deepStrictEqual(other.headers.getSetCookie(), one.headers.getSetCookie())
  assert.strictEqual(other.headers.get("set-auth-token"), one.headers.get("set-auth-token"))
}

const usersNamed = (email: string) =>
  Effect.map(onDatabase((sql) => sql`select 1 from users where email = ${email}`), ({ length }) => length)

layer(app, live)("an idempotency key under /api/auth", (it) => {
  it.effect("an idempotency key under /api/auth creates one user for a repeated sign-up, with the same session", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const body = { name: "Ada", email: newEmail(), password }
      const first = yield* under(key, makeBrowser(), "sign-up/email", body)
      const browser = makeBrowser()
      const second = yield* under(key, browser, "sign-up/email", body)
      assert.strictEqual(first.status, 200)
      isSame(first, second)
      assert.strictEqual((yield* browser.get("/api/auth/get-session")).at("user.id"), first.at("user.id"))
      assert.strictEqual(yield* usersNamed(body.email), 1)

      const other = yield* under(key, makeBrowser(), "sign-up/email", { ...body, email: newEmail() })
      refused(other, 422, "VALIDATION_FAILED")
      assert.strictEqual(other.at("error.details.issues.0.code"), "key_reused")
      refused(yield* under("short", makeBrowser(), "sign-up/email", body), 422, "VALIDATION_FAILED")
    }))

  it.effect("an idempotency key under /api/auth creates one user for concurrent sign-ups", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const body = { name: "Ada", email: newEmail(), password }
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => under(key, makeBrowser(), "sign-up/email", body)),
        { concurrency: "unbounded" }
      )
      const done = answers.filter(({ status }) => status === 200)
      assert.isAtLeast(done.length, 1)
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        refused(answer, 409, "CONFLICT")
        assert.strictEqual(answer.headers.get("retry-after"), "1")
      }
      assert.strictEqual(new Set(done.map((answer) => answer.text("user.id"))).size, 1)
      assert.strictEqual(yield* usersNamed(body.email), 1)
    }))

  it.effect("an idempotency key under /api/auth stores no password or session in readable form", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const body = { name: "Ada", email: newEmail(), password }
      const answer = yield* under(key, makeBrowser(), "sign-up/email", body)
      const rows = yield* onDatabase((sql) =>
        sql<{ readonly request_hash: string; readonly encrypted_response: string }>`select * from idempotency_keys
          order by created_at desc limit 1`
      )
      const kept = JSON.stringify(rows)
      const guess = createHash("sha256").update(`POST /api/auth/sign-up/email\n${JSON.stringify(body)}`).digest("hex")
      for (const secret of [password, answer.text("token"), key, guess]) assert.notInclude(kept, secret)
    }))

  it.effect("an idempotency key under /api/auth can be used again after a refusal", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const body = { name: "Ada", email: newEmail(), password: "short" }
      refused(yield* under(key, makeBrowser(), "sign-up/email", body), 400, "PASSWORD_TOO_SHORT")
      assert.strictEqual((yield* under(key, makeBrowser(), "sign-up/email", { ...body, password })).status, 200)
    }))

  it.effect("an idempotency key under /api/auth repeats the answers of a signed-in user for that user alone", () =>
    Effect.gen(function*() {
      const [visitor, other] = [yield* aVisitor(), yield* aVisitor()]
      const { browser, email } = visitor
      for (const one of [visitor, other]) yield* become(one, "admin")
      const key = randomUUID()
      const made = yield* under(key, browser, "api-key/create", { name: "till" })
      isSame(made, yield* under(key, browser, "api-key/create", { name: "till" }))
      refused(yield* under(key, browser, "api-key/create", { name: "kiosk" }), 422, "VALIDATION_FAILED")
      const foreign = yield* under(key, other.browser, "api-key/create", { name: "till" })
      assert.notStrictEqual(foreign.text("key"), made.text("key"))
      assert.strictEqual((yield* browser.get("/api/auth/api-key/list")).at("total"), 1)

      const organization = { name: "Mugs", slug: randomUUID() }
      const founding = randomUUID()
      const first = yield* under(founding, browser, "organization/create", organization)
      isSame(first, yield* under(founding, browser, "organization/create", organization))

      const change = { currentPassword: password, newPassword: "another horse", revokeOtherSessions: true }
      const changing = randomUUID()
      const changed = yield* under(changing, browser, "change-password", change)
      assert.strictEqual(changed.status, 200)
      isSame(changed, yield* under(changing, browser, "change-password", change))
      assert.strictEqual((yield* signIn(email, "another horse")).answer.status, 200)
    }))

  it.effect("an idempotency key under /api/auth has no effect on sign-ins: each creates a session", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      const key = randomUUID()
      const again = Effect.suspend(() => under(key, makeBrowser(), "sign-in/email", { email, password }))
      assert.notStrictEqual((yield* again).text("token"), (yield* again).text("token"))
    }))
})
