import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aKey } from "../access/People.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import type { Browser } from "../support/Browser.ts"
import { eventually } from "../support/Eventually.ts"
import { api, testAppLayer } from "../support/TestApp.ts"
import { totp } from "./Authenticator.ts"
import { aVisitor, password, refused } from "./Visitors.ts"

const app = testAppLayer({
  auth: {
    requireEmailVerification: false,
    twoFactor: { requiredForRoles: ["admin"] },
    apiKeys: { enabled: true, defaultPermissions: ["orders:read"] }
  }
})

const become = (userId: string, role: string) =>
  onDatabase((sql) =>
    sql`insert into members (organization_id, user_id, role) values ('org_default', ${userId}::uuid, ${role})
      on conflict (organization_id, user_id) do update set role = excluded.role`
  )

const make = (browser: Browser) => browser.post("/api/auth/api-key/create", { name: "mine" })

const setUp = Effect.fnUntraced(function*(browser: Browser) {
  const enabled = yield* browser.post("/api/auth/two-factor/enable", { password })
  const code = totp(enabled.text("totpURI"))
  assert.strictEqual((yield* browser.post("/api/auth/two-factor/verify-totp", { code })).status, 200)
})

const use = (key: string) => api("GET", "/api/orders", { headers: { "x-api-key": key } })

/** What the key opens once the service has heard of a change. */
const settles = (key: string, status: number) =>
  eventually(`the key to be answered ${status}`, Effect.map(use(key), (now) => now.status === status ? now : undefined))

layer(app, { excludeTestServices: true, timeout: "60 seconds" })(
  "a key of a user whose role needs a second factor",
  (it) => {
    it.effect("is not made by a session that lacks the factor", () =>
      Effect.gen(function*() {
        const { browser, userId } = yield* aVisitor()
        yield* become(userId, "admin")
        refused(yield* make(browser), 403, "TWO_FACTOR_REQUIRED")
        refused(yield* browser.get("/api/auth/api-key/list"), 403, "TWO_FACTOR_REQUIRED")
        yield* setUp(browser)
        const made = yield* make(browser)
        assert.strictEqual(made.status, 200, JSON.stringify(made.body))
        assert.strictEqual((yield* use(made.text("key"))).status, 200)
      }))

    it.effect("opens nothing while the user has no factor", () =>
      Effect.gen(function*() {
        const { browser, userId } = yield* aVisitor()
        yield* become(userId, "admin")
        yield* setUp(browser)
        const key = (yield* make(browser)).text("key")
        assert.strictEqual((yield* use(key)).status, 200)
        yield* browser.post("/api/auth/two-factor/disable", { password })
        assert.strictEqual((yield* settles(key, 403)).at("error.code"), "TWO_FACTOR_REQUIRED")
        yield* setUp(browser)
        yield* settles(key, 200)
      }))

    it.effect("that an earlier role or an earlier version let him make without the factor opens nothing", () =>
      Effect.gen(function*() {
        const { browser, userId } = yield* aVisitor()
        yield* become(userId, "owner")
        const made = yield* make(browser)
        const older = yield* aKey({ userId, permissions: { orders: ["read"] } })
        assert.deepStrictEqual([(yield* use(made.text("key"))).status, (yield* use(older.key)).status], [200, 200])
        yield* become(userId, "admin")
        yield* settles(made.text("key"), 403)
        yield* setUp(browser)
        for (const key of [made.text("key"), older.key]) {
          assert.strictEqual((yield* use(key)).at("error.code"), "TWO_FACTOR_REQUIRED")
        }
      }))

    it.effect("is not meant by the rule when it is the organization's", () =>
      Effect.gen(function*() {
        const { key } = yield* aKey({ role: "admin" })
        assert.strictEqual((yield* use(key)).status, 200)
      }))
  }
)
