import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { Effect, Latch, Schema } from "effect"
import { definePlugin, group, table, text } from "stoa/plugin"
import { buildersOf, contractOf, createPluginTestApp, type PluginTestApp } from "stoa/plugin/testing"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { waitFor } from "../support/waitFor.ts"
import { loyalty } from "./LoyaltyPlugin.ts"

const notes = table("leaky_notes", { body: text })
const routes = group("Leaky", "/leaky")

/** A plugin that breaks each of the rules once, for the tests of the checks that find that. */
const leaky = definePlugin({
  id: "leaky",
  version: "1.0.0",
  permissions: [{ scope: "leaky:use", description: "Use it" }],
  schema: () => [notes],
  routes: () => [
    // The query does not filter by organization.
    routes.get("/notes/:id", { permission: "leaky:use", success: Schema.Unknown }).handle(({ db, params }) =>
      Effect.orDie(db.sql`select id, body from leaky_notes where id <> ${params.id}::uuid`)
    ),
    // A database error for what the schema admits.
    routes.post("/numbers", {
      permission: "leaky:use",
      input: Schema.Struct({ number: Schema.String }),
      success: Schema.Unknown
    }).handle(({ db, input }) => Effect.orDie(db.sql`select ${input.number}::int4`)),
    // The same for a header.
    routes.get("/shelf", {
      permission: "leaky:use",
      headers: { "x-shelf": Schema.optional(Schema.String) },
      success: Schema.Unknown
    }).handle(({ db, headers }) => Effect.orDie(db.sql`select ${headers["x-shelf"] ?? "1"}::int4`)),
    // Lets everybody in who holds anything at all, and everybody else too.
    routes.put("/open", { admits: { rule: () => true, missing: "leaky:use" }, success: Schema.Null }).handle(() =>
      Effect.succeed(null)
    )
  ]
})

describe("the checks that every plugin gets", () => {
  let app: PluginTestApp
  const [begun, mayEnd] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
  const slow = defineTask({ slug: "test/slow", handler: () => Effect.andThen(begun.open, Effect.asVoid(mayEnd.await)) })
  beforeAll(async () => {
    app = await createPluginTestApp(loyalty, { postgres: inject("postgres"), tasks: [slow] })
  })
  afterAll(() => app.close())

  it("pass for a plugin that keeps to the rules", async () => {
    const checks = contractOf(app)
    assert.isAtLeast(checks.length, 21)
    for (const { name, run } of checks) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })

  it("stand beside builders of things to sell and of sales", async () => {
    const build = buildersOf(app)
    const [cheap, dear] = [await build.product({ price: 250 }), await build.product()]
    const order = await build.order([[cheap, 2], [dear, 1]])
    assert.deepInclude(order, { subtotal: 1500, currency: "USD" })
    assert.match(await build.customer(), /^[0-9a-f-]{36}$/)
  })

  it("stand beside a clock that can be put forward, which ends no job under way", async () => {
    const before = app.clock.now()
    await app.serviceRegistry.enqueue("test/slow", {})
    await Effect.runPromise(begun.await)
    app.clock.advance("60 days")
    assert.isAtLeast(app.clock.now() - before, 60 * 86_400_000)
    mayEnd.openUnsafe()
    const [job] = await waitFor("the job ends", async () => {
      const found = await app.db.query(
        "select status, error, attempts from commerce_jobs where task_slug = 'test/slow'"
      )
      return found.every(({ status }) => status !== "processing") && found
    })
    assert.deepStrictEqual(job, { status: "succeeded", error: null, attempts: 1 })
  })

  it("run beside tests of the plugin's own", async () => {
    const { app: http } = app
    const refused = await http.request("POST", "/api/loyalty/accounts", { body: {} })
    assert.strictEqual(refused.status, 401)
  })
})

describe("the checks that every plugin gets", () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(leaky, { postgres: inject("postgres") })
  })
  afterAll(() => app.close())

  const failing = async () => {
    const failed: Array<string> = []
    for (const { name, run } of contractOf(app)) await run().catch(() => failed.push(name))
    return failed
  }

  it("name the route that shows rows of others, that fails on input, that lets everybody in", async () => {
    assert.deepStrictEqual(await failing(), [
      "PUT /api/leaky/open refuses visitors and callers without its permission",
      "no route shows or changes a row of another organization",
      "POST /api/leaky/numbers answers anything that is sent without failing",
      "GET /api/leaky/shelf answers anything that is sent without failing"
    ])
  })
})
