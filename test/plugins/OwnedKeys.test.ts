import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group, Text } from "stoa/plugin"
import { aMember } from "../auth/Visitors.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const routes = group("Tills", "/tills")

/** Logs people in at a till: gives them a short-lived key of their own. */
const tills = definePlugin({
  id: "tills",
  version: "1.0.0",
  permissions: [{ scope: "tills:operate", description: "Sell at a till" }],
  keyScopes: { till: { prefix: "till_", permissions: { orders: ["read"], tills: ["operate"], staff: ["manage"] } } },
  routes: () => [
    routes.post("/logins", { auth: true, input: Schema.Struct({ userId: Text }) }).handle(({ input, services }) =>
      services.apiKeys.create({ name: "Ann", scope: "till" }, input.userId)
    ),
    routes.get("/me", { permission: "tills:operate" }).handle(({ actor }) => Effect.succeed(actor))
  ]
})

const app = testAppLayer({
  plugins: [tills],
  auth: {
    requireEmailVerification: false,
    apiKeys: { enabled: true },
    roles: { clerk: ["tills:operate", "orders:read"] }
  },
  email: { send: () => Effect.void }
})

const logIn = (userId: string) => api("POST", "/api/tills/logins", { as: asAdmin, body: { userId } })
const withKey = (key: string, path: string) => api("GET", path, { headers: { "x-api-key": key } })

layer(app, live)("a key that a plugin gives to a person", (it) => {
  it.effect("acts as that person, and may no more than they may", () =>
    Effect.gen(function*() {
      const { userId } = yield* aMember("clerk")
      const made = yield* logIn(userId)
      const key = made.text("data.key")
      assert.strictEqual(made.at("data.apiKey.userId"), userId)
      const me = yield* withKey(key, "/api/tills/me")
      assert.deepStrictEqual([me.at("data.userId"), me.at("data.type")], [userId, "api_key"])
      assert.strictEqual((yield* withKey(key, "/api/orders")).status, 200)
      refused(yield* withKey(key, "/api/admin/api-keys"), 403, "FORBIDDEN")
    }))

  it.effect("opens nothing once they are no member any more", () =>
    Effect.gen(function*() {
      const { userId } = yield* aMember("clerk")
      const key = (yield* logIn(userId)).text("data.key")
      assert.strictEqual((yield* withKey(key, "/api/tills/me")).status, 200)
      yield* onDatabase((sql) => sql`delete from members where user_id = ${userId}::uuid`)
      yield* eventually(
        "the key to be refused",
        Effect.map(withKey(key, "/api/tills/me"), ({ status }) => status === 401 ? true : undefined)
      )
    }))

  it.effect("is not given to a person of another organization", () =>
    Effect.gen(function*() {
      const { userId } = yield* aMember("clerk")
      yield* onDatabase((sql) => sql`delete from members where user_id = ${userId}::uuid`)
      const answer = yield* logIn(userId)
      refused(answer, 422, "VALIDATION_FAILED")
      assert.match(JSON.stringify(answer.body), /owner must be a member of this organization\./)
    }))
})
