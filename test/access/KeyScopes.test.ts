import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aMember, type Visitor } from "../auth/Visitors.ts"
import { holding, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { type Answer, api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { aKey } from "./People.ts"

const app = testAppLayer({
  auth: {
    requireEmailVerification: false,
    apiKeys: { enabled: true, defaultPermissions: ["orders:read", "webhooks:manage"] },
    roles: { keeper: ["api-keys:manage", "orders:read", "inventory:*"] },
    apiKeyScopes: {
      warehouse: {
        prefix: "wh_",
        permissions: { orders: ["read"], inventory: ["read"] },
        rateLimit: { timeWindow: 60_000, maxRequests: 3 },
        keyExpiration: 90,
        enableMetadata: true
      },
      robots: { prefix: "robot_", permissions: { orders: ["read"] }, references: "organization" },
      everything: { prefix: "all_", permissions: { "*": ["*"] } }
    }
  }
})

const make = (body: object, as = asAdmin) => api("POST", "/api/admin/api-keys", { as, body })

const status = (key: string, path: string) =>
  Effect.map(api("GET", path, { headers: { "x-api-key": key } }), (answer) => answer.status)

const may = (key: string) =>
  Effect.all([status(key, "/api/orders"), status(key, "/api/pricing/prices"), status(key, "/api/webhooks")])

const makeOwn = ({ browser }: Visitor, body: object) => browser.post("/api/auth/api-key/create", body)

/** Spellings of the path at which a user creates a key. */
const waysToWrite = [
  "/api-key/create?x",
  "/api-key/create?x=/ok",
  "/api-key/create/",
  "//api-key/create",
  "/api-key/%63reate",
  "/API-KEY/create",
  "/api-key/create;x"
]

const daysAhead = (answer: Answer, path: string) =>
  Math.round((new Date(answer.text(path)).getTime() - Date.now()) / 86_400_000)

layer(app, live)("API keys", (it) => {
  it.effect("API keys are shown once, stored as a hash, recorded in the audit trail, and have the permissions of their role at the time of use", () =>
    Effect.gen(function*() {
      const made = yield* make({ name: "Till", role: "staff" })
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      const key = made.text("data.key")
      assert.match(key, /^stoa_[\w-]{43}$/)
      assert.deepStrictEqual([made.at("data.role"), made.at("data.scope"), made.at("data.expiresAt")], [
        "staff",
        null,
        null
      ])
      assert.deepStrictEqual(yield* may(key), [200, 403, 403])
      const stored = yield* onDatabase((sql) => sql`select * from api_keys`)
      const recorded = yield* eventually(
        "the entry",
        Effect.map(
          api("GET", `/api/audit/api_key/${made.text("data.id")}`, { as: asAdmin }),
          (trail) => trail.list("data").length > 0 ? trail : undefined
        )
      )
      assert.strictEqual(recorded.at("data.0.event"), "apiKeys.create")
      const listed = yield* api("GET", "/api/admin/api-keys", { as: asAdmin })
      assert.notInclude(JSON.stringify([stored, recorded.body, listed.body]), key.slice(10))

      const narrow = yield* make({ name: "Prices", role: "admin", permissions: ["pricing:read"] })
      assert.deepStrictEqual(narrow.at("data.permissions"), ["pricing:read"])
      assert.deepStrictEqual(yield* may(narrow.text("data.key")), [403, 200, 403])
    }))

  it.effect("API keys have at most the permissions of their creator, and are refused when they are invalid", () =>
    Effect.gen(function*() {
      const keeper = { ...holding("api-keys:manage", "orders:read", "inventory:*"), role: "keeper" }
      for (const body of [{ role: "admin" }, { role: "staff" }, { scope: "everything" }]) {
        refused(yield* make({ name: "A", ...body }, keeper), 403, "FORBIDDEN", JSON.stringify(body))
      }
      assert.strictEqual((yield* make({ name: "A", scope: "warehouse" }, keeper)).status, 201)
      refused(yield* make({ name: "A", role: "staff" }, holding("orders:read")), 403, "FORBIDDEN", "no permission")
      const wrong = [
        { role: "king" },
        { scope: "nothing" },
        { scope: "default" },
        { role: "staff", scope: "warehouse" },
        {},
        { role: "staff", permissions: ["pricing:read"] },
        { role: "staff", metadata: { a: 1 } },
        { role: "staff", expiresAt: "2020-01-01T00:00:00Z" },
        { name: " ", role: "staff" },
        { name: "x".repeat(65), role: "staff" }
      ]
      for (const body of wrong) {
        refused(yield* make({ name: "A", ...body }), 422, "VALIDATION_FAILED", JSON.stringify(body))
      }
      const all = yield* make({ name: "A", scope: "everything" })
      refused(
        yield* api("DELETE", `/api/admin/api-keys/${all.text("data.id")}`, { as: keeper }),
        403,
        "FORBIDDEN",
        "a key that may more"
      )
    }))

  it.effect("API keys of a scope have its prefix, permissions, limit, lifetime and metadata, and open nothing once it is removed", () =>
    Effect.gen(function*() {
      const made = yield* make({ name: "Scanner", scope: "warehouse", metadata: { aisle: 4 } })
      assert.match(made.text("data.key"), /^wh_[\w-]{43}$/)
      assert.deepStrictEqual([made.at("data.role"), made.at("data.scope")], [null, "warehouse"])
      assert.deepStrictEqual(made.at("data.metadata"), { aisle: 4 })
      assert.strictEqual(daysAhead(made, "data.expiresAt"), 90)
      assert.deepStrictEqual(yield* may(made.text("data.key")), [200, 403, 403])
      assert.strictEqual(yield* status(made.text("data.key"), "/api/orders"), 429)
      const [row] = (yield* api("GET", "/api/admin/api-keys?limit=1", { as: asAdmin })).list("data")
      assert.deepInclude(row, { scope: "warehouse", metadata: { aisle: 4 } })

      const gone = yield* aKey({ role: "staff" })
      yield* onDatabase((sql) =>
        sql`update api_keys set role = null, config_id = 'of_yesterday' where id = ${gone.id}::uuid`
      )
      assert.deepStrictEqual(yield* may(gone.key), [403, 403, 403])
      yield* onDatabase((sql) => sql`update api_keys set expires_at = now() where id = ${made.text("data.id")}::uuid`)
      yield* eventually(
        "the key to be over",
        Effect.map(status(made.text("data.key"), "/api/orders"), (now) => now === 401)
      )
    }))

  it.effect("API keys of a user have at most the current permissions of the user", () =>
    Effect.gen(function*() {
      const keeper = yield* aMember("keeper")
      const plain = yield* makeOwn(keeper, { name: "mine" })
      // The default of the deployment grants webhooks too, which the user may not manage.
      assert.deepStrictEqual(yield* may(plain.text("key")), [200, 403, 403])
      const scanner = yield* makeOwn(keeper, { name: "scan", configId: "warehouse", metadata: { aisle: 4 } })
      assert.match(scanner.text("key"), /^wh_/)
      assert.strictEqual(daysAhead(scanner, "expiresAt"), 90)
      assert.deepStrictEqual(yield* may(scanner.text("key")), [200, 403, 403])

      const refusedOnes = [
        { configId: "everything" },
        { configId: "robots" },
        { configId: "nothing" },
        { prefix: "all_" },
        { configId: "warehouse", prefix: "stoa_" }
      ]
      for (const body of refusedOnes) {
        for (const way of waysToWrite) {
          const answer = yield* keeper.browser.post(`/api/auth${way}`, body)
          // Some spellings match no route; none evades the rule.
          assert.include([403, 404], answer.status, `${way} ${JSON.stringify(body)}`)
        }
        assert.strictEqual((yield* makeOwn(keeper, body)).status, 403, JSON.stringify(body))
      }
      assert.strictEqual(
        (yield* makeOwn(keeper, { permissions: { orders: ["read"] } })).at("code"),
        "SERVER_ONLY_PROPERTY"
      )

      yield* onDatabase((sql) => sql`delete from members where user_id = ${keeper.userId}::uuid`)
      yield* eventually("the key to open nothing", Effect.map(may(plain.text("key")), ([orders]) => orders === 401))
    }))
})
