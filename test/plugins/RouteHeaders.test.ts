import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group, Text } from "stoa/plugin"
import { api, asAdmin, at, live, TestApp, testAppLayer } from "../support/TestApp.ts"

const Token = Text.check(Schema.isPattern(/^[a-z0-9]{4,64}$/))
const routes = group("Till", "/till")

const till = definePlugin({
  id: "till",
  version: "1.0.0",
  routes: () => [
    routes.post("/void", {
      auth: true,
      success: Schema.Unknown,
      headers: { "x-pos-override": Schema.optional(Token), "x-pos-counter": Schema.optional(Schema.FiniteFromString) }
    }).handle(({ headers }) =>
      Effect.succeed({
        token: headers["x-pos-override"]?.toUpperCase() ?? null,
        next: (headers["x-pos-counter"] ?? 0) + 1,
        names: Object.keys(headers).sort()
      })
    ),
    routes.get("/drawer", { auth: true, success: Schema.String, headers: { "x-pos-drawer": Token } }).handle((
      { headers }
    ) => Effect.succeed(headers["x-pos-drawer"])),
    routes.get("/plain", { auth: true, success: Schema.Unknown }).handle(({ headers }) => Effect.succeed(headers))
  ]
})

const sent = (headers: Record<string, string>) => api("POST", "/api/till/void", { as: asAdmin, headers })

layer(testAppLayer({ plugins: [till] }), live)("headers of a plugin's JSON route", (it) => {
  it.effect("are decoded by their schemas in any case of their names, and no others are given", () =>
    Effect.gen(function*() {
      const answer = yield* sent({ "X-POS-Override": "abcd", "x-pos-counter": "7", "x-other": "1" })
      assert.deepStrictEqual(answer.at("data"), {
        token: "ABCD",
        next: 8,
        names: ["x-pos-counter", "x-pos-override"]
      })
      assert.deepStrictEqual((yield* sent({})).at("data"), { token: null, next: 1, names: [] })
      const plain = yield* api("GET", "/api/till/plain", { as: asAdmin, headers: { "x-pos-override": "abcd" } })
      assert.deepStrictEqual(plain.at("data"), {})
    }))

  it.effect("are 422 with their name when they are wrong: empty, too long, sent twice, missing", () =>
    Effect.gen(function*() {
      for (const value of ["", "x".repeat(10_000), "abcd, efgh", "ABCD"]) {
        const answer = yield* sent({ "x-pos-override": value })
        assert.deepStrictEqual(
          [answer.status, answer.at("error.code"), answer.at("error.details.issues.0.path")],
          [422, "VALIDATION_FAILED", "x-pos-override"]
        )
        assert.isBelow(JSON.stringify(answer.body).length, 4_000)
      }
      const missing = yield* api("GET", "/api/till/drawer", { as: asAdmin })
      assert.deepStrictEqual([missing.status, missing.at("error.details.issues.0.path")], [422, "x-pos-drawer"])
      const both = yield* sent({ "x-pos-override": "ABCD", "x-pos-counter": "many" })
      assert.sameMembers(both.list("error.details.issues").map((issue) => at(issue, "path")), [
        "x-pos-override",
        "x-pos-counter"
      ])
    }))

  it.effect("come after the access rule", () =>
    Effect.gen(function*() {
      const headers = { "x-pos-override": "" }
      assert.strictEqual((yield* api("POST", "/api/till/void", { headers })).status, 401)
    }))

  it.effect("stand in the document", () =>
    Effect.gen(function*() {
      const { body } = yield* api("GET", "/api/doc")
      const paths = Object(at(body, "paths"))
      const inHeader = (operation: unknown) =>
        Object(at(operation, "parameters")).filter((one: object) => Reflect.get(one, "in") === "header")
      const [override] = inHeader(paths["/api/till/void"].post)
      assert.deepInclude(override, { name: "x-pos-override", required: false })
      assert.deepInclude(inHeader(paths["/api/till/drawer"].get)[0], { name: "x-pos-drawer", required: true })
    }))

  it.effect("may be sent by pages of trusted origins", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      const answer = yield* Effect.promise(() =>
        fetch(`${url}/api/till/void`, {
          method: "OPTIONS",
          headers: { origin: "http://localhost:3000", "access-control-request-method": "POST" }
        })
      )
      assert.include(answer.headers.get("access-control-allow-headers"), "x-pos-override")
    }))
})
