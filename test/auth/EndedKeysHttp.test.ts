import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aKey } from "../access/People.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, makeOutbox, password, signIn } from "./Visitors.ts"

const outbox = makeOutbox()
const app = testAppLayer({
  auth: { requireEmailVerification: false, apiKeys: { enabled: true, defaultPermissions: ["orders:read"] } },
  email: { send: outbox.send }
})

const fresh = "a brand-new horse"

/** An administrator who signed in twice and made a key for himself. */
const holder = Effect.gen(function*() {
  const visitor = yield* aVisitor()
  yield* onDatabase((sql) =>
    sql`insert into members (organization_id, user_id, role) values ('org_default', ${visitor.userId}::uuid, 'admin')`
  )
  const made = yield* visitor.browser.post("/api/auth/api-key/create", { name: "mine" })
  const other = yield* signIn(visitor.email)
  return { ...visitor, key: made.text("key"), other: other.browser }
})

const use = (key: string) =>
  Effect.map(api("GET", "/api/orders", { headers: { "x-api-key": key } }), ({ status }) => status)

const ended = (userId: string) =>
  onDatabase((sql) => sql`select 1 from outbox_events where type = 'apiKeys.delete' and actor_id = ${userId}`)

layer(app, { excludeTestServices: true, timeout: "60 seconds" })("keys that a user made for himself", (it) => {
  it.effect("end with his sessions when his password is reset, and those of others do not", () =>
    Effect.gen(function*() {
      const [somebody, { email, key, other, userId }] = [yield* holder, yield* holder]
      const service = yield* aKey({ role: "admin" })
      assert.strictEqual(yield* use(key), 200)
      yield* api("POST", "/api/auth/request-password-reset", { body: { email, redirectTo: "/new" } })
      const token = (yield* outbox.linkTo(email, "password-reset")).pathname.split("/").at(-1)
      const reset = yield* api("POST", "/api/auth/reset-password", { body: { token, newPassword: fresh } })
      assert.strictEqual(reset.status, 200, JSON.stringify(reset.body))
      assert.strictEqual(yield* use(key), 401)
      assert.isNull((yield* other.get("/api/auth/get-session")).body)
      assert.strictEqual((yield* ended(userId)).length, 1)
      assert.deepStrictEqual([yield* use(somebody.key), yield* use(service.key)], [200, 200])
    }))

  it.effect("end when he changes his password and revokes his other sessions, and stay when he does not", () =>
    Effect.gen(function*() {
      const { browser, key, userId } = yield* holder
      const change = (from: string, to: string, revokeOtherSessions: boolean) =>
        browser.post("/api/auth/change-password", { currentPassword: from, newPassword: to, revokeOtherSessions })
      assert.strictEqual((yield* change(password, fresh, false)).status, 200)
      assert.strictEqual(yield* use(key), 200)
      assert.strictEqual((yield* change("wrong", password, true)).status, 400)
      assert.strictEqual(yield* use(key), 200)
      assert.strictEqual((yield* change(fresh, password, true)).status, 200)
      assert.strictEqual(yield* use(key), 401)
      assert.strictEqual((yield* ended(userId)).length, 1)
    }))
})
