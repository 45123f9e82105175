import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group, integer, json, resource, table, text } from "stoa/plugin"
import { createPluginTestApp, type PluginTestApp } from "stoa/plugin/testing"
import { callsOf } from "../support/PluginCalls.ts"

const limits = table("limits_limits", { name: text, maximumAmount: integer.default(1), metadata: json.default({}) }, {
  strict: true
})
const open = table("limits_open", { name: text })
const routes = group("Limits", "/limits")
const rule = { noun: "limit", read: "limits:write", write: "limits:write" }
const Conditions = Schema.Struct({
  conditions: Schema.Struct({
    minimumTotal: Schema.optional(Schema.Int),
    skus: Schema.optional(Schema.Array(Schema.String))
  })
})

const plugin = definePlugin({
  id: "limits",
  version: "1.0.0",
  permissions: [{ scope: "limits:write", description: "Write limits" }],
  schema: () => [limits, open],
  routes: () => [
    ...resource(routes, "/limits", limits, rule),
    ...resource(routes, "/open", open, rule),
    routes.put("/conditions", { permission: "limits:write", input: Conditions, strict: true })
      .handle(({ input }) => Effect.succeed(input))
  ]
})

const issues = (body: unknown): unknown =>
  ["error", "details", "issues"].reduce((inside: unknown, key) => Reflect.get(Object(inside), key), body)

describe("a strict body", () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(plugin, { postgres: inject("postgres") })
  })
  afterAll(() => app.close())
  const send = (method: string, path: string, body: object) =>
    callsOf(app, "/limits").ask(method, `/limits${path}`, body)

  it("of a strict table is refused with 422 and the name that was meant", async () => {
    const { body, status } = await send("POST", "/limits", { name: "a", maximumAmout: 3, colour: "red" })
    assert.strictEqual(status, 422)
    assert.deepStrictEqual(issues(body), [
      {
        path: "maximumAmout",
        message: "maximumAmout is not a known field. Did you mean \"maximumAmount\"?",
        code: "unknown_key"
      },
      { path: "colour", message: "colour is not a known field. Leave it out.", code: "unknown_key" }
    ])
  })

  it("may name anything in metadata, and is changed as strictly", async () => {
    const made = await send("POST", "/limits", { name: "a", metadata: { anything: { goes: 1 } } })
    assert.strictEqual(made.status, 201)
    const { body, status } = await send("PATCH", `/limits/${made.text("data.id")}`, { nmae: "b" })
    assert.deepStrictEqual([status, Reflect.get(Object(Object(issues(body))[0]), "code")], [422, "unknown_key"])
  })

  it("of a route is refused for an unknown field at any depth, and parameters of the query are not looked at", async () => {
    const { body, status } = await send("PUT", "/conditions?other=1", { conditions: { minimumTotl: 1 } })
    assert.strictEqual(status, 422)
    assert.deepStrictEqual(issues(body), [{
      path: "conditions.minimumTotl",
      message: "conditions.minimumTotl is not a known field. Did you mean \"minimumTotal\"?",
      code: "unknown_key"
    }])
    assert.strictEqual((await send("PUT", "/conditions?other=1", { conditions: { minimumTotal: 1 } })).status, 200)
  })

  it("is what a table asks for: others ignore unknown fields", async () => {
    assert.strictEqual((await send("POST", "/open", { name: "a", colour: "red" })).status, 201)
  })
})
