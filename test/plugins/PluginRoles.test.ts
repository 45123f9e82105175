import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group } from "stoa/plugin"
import { signIn } from "../access/People.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const routes = group("Reviews", "/reviews")
const answer = () => Effect.succeed(null)

const reviews = definePlugin({
  id: "reviews",
  version: "1.0.0",
  permissions: [
    { scope: "reviews:write", description: "Write reviews", roles: ["customer", "staff"] },
    { scope: "reviews:admin", description: "Remove reviews", roles: ["staff"] }
  ],
  routes: () => [
    routes.post("/", { permission: "reviews:write", success: Schema.Null }).handle(answer),
    routes.delete("/", { permission: "reviews:admin", success: Schema.Null }).handle(answer)
  ]
})

const withPlugin = (roles: object) =>
  layer(testAppLayer({ plugins: [reviews], auth: { roles: { clerk: [], ...roles } } }), live)

/** The statuses of a member, or of a shopper without a role. */
const statusesOf = Effect.fnUntraced(function*(role?: string) {
  yield* onDatabase((sql) =>
    sql`insert into organizations (id, slug, name) values ('o', 'o', 'o') on conflict do nothing`
  )
  const { bearer: headers } = yield* signIn({ active: "o", ...(role === undefined ? {} : { organization: "o", role }) })
  const write = yield* api("POST", "/api/reviews", { headers })
  const remove = yield* api("DELETE", "/api/reviews", { headers })
  return [write.status, remove.status]
})

withPlugin({})("a permission with default roles", (it) => {
  it.effect("is held by shoppers and members of these roles, and by no others", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* statusesOf(), [201, 403])
      assert.deepStrictEqual(yield* statusesOf("staff"), [201, 200])
      assert.deepStrictEqual(yield* statusesOf("clerk"), [403, 403])
    }))

  it.effect("lets no visitor without credentials in, though visitors hold what customers hold", () =>
    Effect.gen(function*() {
      const refused = yield* api("POST", "/api/reviews")
      assert.deepStrictEqual([refused.status, refused.at("error.code")], [401, "UNAUTHORIZED"])
    }))

  it.effect("is shown with its roles", () =>
    Effect.gen(function*() {
      const found = (yield* api("GET", "/api/admin/staff/roles", { as: asAdmin })).list("data")
      assert.include(
        JSON.stringify(found.find((role) => Reflect.get(Object(role), "role") === "staff")),
        "reviews:admin"
      )
    }))
})

withPlugin({ staff: { permissions: ["orders:read"], fromPlugins: false } })(
  "a role that takes nothing of plugins",
  (it) => {
    it.effect("holds exactly what the deployment says", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* statusesOf("staff"), [403, 403])
      }))
  }
)
