import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { aKey } from "../access/People.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Browser, makeBrowser } from "../support/Browser.ts"
import { eventually } from "../support/Eventually.ts"
import { api, live, testAppLayer } from "../support/TestApp.ts"
import {
  aMember,
  aVisitor,
  become,
  isSignedIn,
  makeOutbox,
  password,
  refused,
  setUpFactor,
  signIn
} from "./Visitors.ts"

const outbox = makeOutbox()
const app = testAppLayer({
  auth: {
    requireEmailVerification: false,
    twoFactor: { requiredForRoles: ["admin"] },
    apiKeys: { enabled: true, defaultPermissions: ["orders:read"] }
  },
  email: { send: outbox.send }
})

const make = (browser: Browser, body: object = { name: "till" }) => browser.post("/api/auth/api-key/create", body)

/** A member who signed in twice and created a key. */
const aHolder = Effect.gen(function*() {
  const member = yield* aMember("owner")
  const key = (yield* make(member.browser)).text("key")
  return { ...member, key, other: (yield* signIn(member.email)).browser }
})

const use = (key: string) => api("GET", "/api/orders", { headers: { "x-api-key": key } })

const statusOf = (key: string) => Effect.map(use(key), ({ status }) => status)

/** Waits for what the key opens after a change. */
const settles = (key: string, status: number) =>
  eventually(`${status} for the key`, Effect.map(use(key), (now) => now.status === status ? now : undefined))

const deletionsBy = (userId: string) =>
  Effect.map(
    onDatabase((sql) => sql`select 1 from outbox_events where type = 'apiKeys.delete' and actor_id = ${userId}`),
    ({ length }) => length
  )

layer(app, live)("API keys of a user", (it) => {
  it.effect("API keys of a user are created by a member who may manage keys, and are stored as a hash", () =>
    Effect.gen(function*() {
      refused(yield* make((yield* aVisitor()).browser), 403, "FORBIDDEN")
      refused(yield* make((yield* aMember("staff")).browser), 403, "FORBIDDEN")
      refused(yield* make(makeBrowser(), {}), 401, "UNAUTHORIZED")
      const { browser } = yield* aMember("owner")
      const made = yield* make(browser)
      assert.strictEqual(made.status, 200)
      const key = made.text("key")
      const rows = yield* onDatabase((sql) =>
        sql`select key, organization_id, permissions from api_keys where id = ${made.text("id")}::uuid`
      )
      const hash = createHash("sha256").update(key).digest("base64url")
      assert.deepStrictEqual(rows, [{ key: hash, organization_id: "org_default", permissions: null }])
      const listed = yield* browser.get("/api/auth/api-key/list")
      assert.strictEqual(listed.at("total"), 1)
      assert.notInclude(JSON.stringify(listed.body), key)
      for (const secret of [{ permissions: { "*": ["*"] } }, { rateLimitMax: 1 }, { remaining: 5 }]) {
        assert.strictEqual((yield* make(browser, { name: "till", ...secret })).status, 400, JSON.stringify(secret))
      }
    }))

  it.effect("API keys of a user cannot be read, changed or deleted by another user", () =>
    Effect.gen(function*() {
      const [{ browser }, other] = [yield* aMember("owner"), yield* aMember("owner")]
      const keyId = (yield* make(browser)).text("id")
      assert.strictEqual((yield* browser.get(`/api/auth/api-key/get?id=${keyId}`)).at("id"), keyId)
      const change = (by: Browser) => by.post("/api/auth/api-key/update", { keyId, enabled: false })
      const remove = (by: Browser) => by.post("/api/auth/api-key/delete", { keyId })
      const answers = [
        yield* other.browser.get(`/api/auth/api-key/get?id=${keyId}`),
        yield* change(other.browser),
        yield* remove(other.browser)
      ]
      assert.deepStrictEqual(answers.map(({ status }) => status), [404, 404, 404])
      assert.strictEqual((yield* change(browser)).at("enabled"), false)
      assert.deepStrictEqual((yield* remove(browser)).body, { success: true })
    }))

  it.effect("API keys of a user end with the user's sessions when the password is reset; keys of others do not", () =>
    Effect.gen(function*() {
      const [another, { email, key, other, userId }] = [yield* aHolder, yield* aHolder]
      const service = yield* aKey({ role: "owner" })
      assert.strictEqual(yield* statusOf(key), 200)
      yield* api("POST", "/api/auth/request-password-reset", { body: { email, redirectTo: "/new" } })
      const token = (yield* outbox.linkTo(email, "password-reset")).pathname.split("/").at(-1)
      const reset = yield* api("POST", "/api/auth/reset-password", { body: { token, newPassword: "a new horse" } })
      assert.strictEqual(reset.status, 200, JSON.stringify(reset.body))
      assert.strictEqual(yield* statusOf(key), 401)
      assert.isFalse(yield* isSignedIn(other))
      assert.strictEqual(yield* deletionsBy(userId), 1)
      assert.deepStrictEqual([yield* statusOf(another.key), yield* statusOf(service.key)], [200, 200])
    }))

  it.effect("API keys of a user end when a change of the password revokes the other sessions, and stay when it does not", () =>
    Effect.gen(function*() {
      const { browser, key, userId } = yield* aHolder
      const steps = [[password, "a new horse", false, 200, 200], ["wrong", password, true, 400, 200], [
        "a new horse",
        password,
        true,
        200,
        401
      ]] as const
      for (const [currentPassword, newPassword, revokeOtherSessions, status, left] of steps) {
        const body = { currentPassword, newPassword, revokeOtherSessions }
        assert.strictEqual((yield* browser.post("/api/auth/change-password", body)).status, status)
        assert.strictEqual(yield* statusOf(key), left)
      }
      assert.strictEqual(yield* deletionsBy(userId), 1)
    }))

  it.effect("API keys of a user are not created by a session without the second factor that the role requires", () =>
    Effect.gen(function*() {
      const { browser } = yield* aMember("admin")
      refused(yield* make(browser), 403, "TWO_FACTOR_REQUIRED")
      refused(yield* browser.get("/api/auth/api-key/list"), 403, "TWO_FACTOR_REQUIRED")
      yield* setUpFactor(browser)
      const made = yield* make(browser)
      assert.strictEqual(made.status, 200, JSON.stringify(made.body))
      assert.strictEqual(yield* statusOf(made.text("key")), 200)
    }))

  it.effect("API keys of a user open nothing while the user lacks the second factor", () =>
    Effect.gen(function*() {
      const { browser } = yield* aMember("admin")
      yield* setUpFactor(browser)
      const key = (yield* make(browser)).text("key")
      assert.strictEqual(yield* statusOf(key), 200)
      yield* browser.post("/api/auth/two-factor/disable", { password })
      assert.strictEqual((yield* settles(key, 403)).at("error.code"), "TWO_FACTOR_REQUIRED")
      yield* setUpFactor(browser)
      yield* settles(key, 200)
    }))

  it.effect("API keys of a user open nothing if they were created without the factor, in an earlier role or version", () =>
    Effect.gen(function*() {
      const member = yield* aMember("owner")
      const made = (yield* make(member.browser)).text("key")
      const older = (yield* aKey({ userId: member.userId, permissions: { orders: ["read"] } })).key
      assert.deepStrictEqual([yield* statusOf(made), yield* statusOf(older)], [200, 200])
      yield* become(member, "admin")
      yield* settles(made, 403)
      yield* setUpFactor(member.browser)
      for (const key of [made, older]) assert.strictEqual((yield* use(key)).at("error.code"), "TWO_FACTOR_REQUIRED")
    }))

  it.effect("API keys of an organization need no second factor", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* statusOf((yield* aKey({ role: "admin" })).key), 200)
    }))

  it.effect("API keys of a user need no organization of the user, who may create none where the deployment does not allow it", () =>
    Effect.gen(function*() {
      const { browser } = yield* aVisitor()
      const body = { name: "Mine", slug: randomUUID() }
      assert.strictEqual((yield* browser.post("/api/auth/organization/create", body)).status, 403)
    }))
})
