import { assert, describe, it as plain, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { endOf } from "../../src/layers/access/ApiKeyCommand.ts"
import { aMember } from "../auth/Visitors.ts"
import { holding, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { stoa } from "../support/Command.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, live, TestApp, testAppLayer, withApp } from "../support/TestApp.ts"
import { aKey } from "./People.ts"

/** Runs `stoa api-key …` on the database of the running service; its exit code and what it wrote. */
const command = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const { databaseUrl } = yield* TestApp
  return yield* stoa(["api-key", ...args], { DATABASE_URL: databaseUrl })
})

const status = (key: string, path = "/api/orders") =>
  Effect.map(api("GET", path, { headers: { "x-api-key": key } }), (answer) => answer.status)

withApp("API keys", (it) => {
  it.effect(
    "API keys are created by the command line, shown once, stored as a hash, listed without it and revoked",
    () =>
      Effect.gen(function*() {
        const made = yield* command("create", "--name", "Warehouse", "--role", "staff", "--expires", "90d")
        assert.strictEqual(made.code, 0, made.output)
        const [, key = ""] = /^(stoa_[\w-]{43})$/m.exec(made.output) ?? []
        const [, id = ""] = /^id: (.+)$/m.exec(made.output) ?? []
        assert.match(made.output, /^role: staff \(catalog:create, .+\)$/m)
        assert.match(made.output, /^expires: \d{4}-\d{2}-\d{2}T/m)
        assert.deepStrictEqual([yield* status(key), yield* status(key, "/api/pricing/prices")], [200, 403])

        const rows = yield* onDatabase((sql) => sql<{ row: string }>`select k::text as row from api_keys k`)
        assert.strictEqual(rows.length, 1)
        assert.notInclude(JSON.stringify(rows), key.slice(10))
        const listed = yield* api("GET", "/api/admin/api-keys", { as: asAdmin })
        assert.strictEqual(listed.at("meta.pagination.total"), 1)
        const shown = { name: "Warehouse", role: "staff", prefix: "stoa_", start: key.slice(0, 10), enabled: true }
        for (const [field, value] of Object.entries(shown)) {
          assert.strictEqual(listed.at(`data.0.${field}`), value, field)
        }
        assert.isUndefined(listed.at("data.0.key"))
        assert.include((yield* command("list")).output, id)

        const gone = yield* command("revoke", id)
        assert.deepStrictEqual([gone.code, gone.output.trim()], [0, `The key ${id} opens nothing any more.`])
        yield* eventually(
          "the key to be refused",
          Effect.map(status(key), (now) => now === 401)
        )
        const again = yield* command("revoke", id)
        assert.deepStrictEqual([again.code, again.output.trim()], [1, "stoa: API key not found."])
      })
  )

  it.effect(
    "API keys are refused by the command line with one line that gives the reason",
    () =>
      Effect.gen(function*() {
        const cases = [
          [["--name", "A", "--role", "king"], "role must be one of owner, admin, staff, customer."],
          [["--name", "A", "--role", "staff", "--org", "org_none"], "There is no organization \"org_none\"."],
          [["--name", "A", "--role", "staff", "--expires", "soon"], "--expires must be a span such as 12h, 90d or 8w"],
          [["--name", " ", "--role", "staff"], "name must have 1 to 64 characters."]
        ] as const
        for (const [args, line] of cases) {
          const { code, output } = yield* command("create", ...args)
          assert.strictEqual(code, 1, output)
          assert.include(output, `stoa: ${line}`)
        }
      })
  )

  it.effect("API keys are revoked over HTTP at once, with an audit entry, by an actor who may grant their role", () =>
    Effect.gen(function*() {
      const [staff, admin] = [yield* aKey({ role: "staff" }), yield* aKey({ role: "admin" })]
      const manager = {
        ...holding("staff:manage", "catalog:*", "inventory:*", "orders:*", "customers:*", "cart:*", "returns:*")
      }
      assert.deepStrictEqual([yield* status(staff.key), yield* status(admin.key)], [200, 200])
      const outranked = yield* api("DELETE", `/api/admin/api-keys/${admin.id}`, { as: manager })
      refused(outranked, 403, "FORBIDDEN", "the key of an administrator")
      const done = yield* api("DELETE", `/api/admin/api-keys/${staff.id}`, { as: manager })
      assert.deepStrictEqual(done.body, { data: { deleted: true } })
      assert.deepStrictEqual([yield* status(staff.key), yield* status(admin.key)], [401, 200])
      const again = yield* api("DELETE", `/api/admin/api-keys/${staff.id}`, { as: manager })
      refused(again, 404, "NOT_FOUND", "a key that is gone")
      const trail = yield* eventually(
        "the entry",
        Effect.map(
          api("GET", `/api/audit/api_key/${staff.id}`, { as: asAdmin }),
          (answer) => answer.list("data").length > 0 ? answer : undefined
        )
      )
      assert.strictEqual(trail.at("data.0.event"), "apiKeys.delete")
    }))
})

layer(testAppLayer({ auth: { apiKeys: { enabled: false }, requireEmailVerification: false } }), live)(
  "API keys that are disabled",
  (it) => {
    it.effect("API keys that are disabled open nothing and are not created, while the development key opens everything and revokes them", () =>
      Effect.gen(function*() {
        const { id, key } = yield* aKey({ role: "admin" })
        const development = { headers: { "x-api-key": "dev-admin-key" } }
        assert.deepStrictEqual([yield* status(key), yield* status("dev-admin-key")], [401, 200])
        const { browser } = yield* aMember("owner")
        assert.strictEqual((yield* browser.post("/api/auth/api-key/create", { name: "mine" })).status, 404)
        const asked = yield* api("POST", "/api/admin/api-keys", { ...development, body: { name: "A", role: "staff" } })
        refused(asked, 403, "FORBIDDEN", "a new key")
        assert.strictEqual((yield* api("GET", "/api/admin/api-keys", development)).at("data.0.id"), id)
        assert.strictEqual((yield* api("DELETE", `/api/admin/api-keys/${id}`, development)).status, 200)
      }))
  }
)

describe("the end of a key", () => {
  const now = new Date("2026-01-01T00:00:00Z")
  const zone = DateTime.zoneMakeNamedUnsafe("Europe/Zurich")

  plain("the end of a key is a duration from now or the end of a date", () => {
    const ends = ["12h", "90d", "8w", "2027-01-31", "2027-01-31T12:00:00Z"].map((text) =>
      endOf(text, now, zone)?.toISOString()
    )
    assert.deepStrictEqual(ends, [
      "2026-01-01T12:00:00.000Z",
      "2026-04-01T00:00:00.000Z",
      "2026-02-26T00:00:00.000Z",
      "2027-01-31T23:00:00.000Z",
      "2027-01-31T12:00:00.000Z"
    ])
  })

  plain("the end of a key is refused in any other form", () => {
    for (const text of ["", "soon", "12", "h", "-1d", "1y", "2027-13-01", "1e3d"]) {
      assert.isUndefined(endOf(text, now, zone), text)
    }
  })
})
