import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { WorkflowEngine } from "effect/workflow"
import {
  Conflict,
  conflict,
  CurrentActor,
  definePlugin,
  group,
  PluginContext,
  pluginWorkflow,
  table,
  Text,
  text,
  ValidationFailed
} from "stoa/plugin"
import { elsewhere, onDatabase, openElsewhere } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

class Late extends conflict("Late", "Too late.") {}

const letters = table("letters", { person: text, author: text })

/** Writes letters, and knows how those ended. */
const Letter = pluginWorkflow("letters/Write", {
  input: { to: Schema.String },
  key: ({ to }) => to,
  success: Schema.Number,
  error: Conflict
})

let hiccups = 1

class Letters extends Context.Service<Letters>()("test/plugins/Letters", {
  make: Effect.gen(function*() {
    const { db } = yield* PluginContext
    const engine = yield* WorkflowEngine.WorkflowEngine
    return {
      write: Effect.fnUntraced(function*(to: string) {
        if (hiccups-- > 0) return yield* Effect.die(new Error("the database is away"))
        yield* db.table(letters).insert({ person: to, author: (yield* CurrentActor).role }).pipe(
          Effect.catchIf(Schema.is(ValidationFailed), Effect.die)
        )
        if (to === "late") return yield* new Late()
        return to.length
      }),
      end: (to: string) =>
        Effect.gen(function*() {
          const { organizationId } = yield* CurrentActor
          return yield* Letter.workflow.poll(yield* Letter.workflow.executionId({ organizationId, input: { to } }))
        }).pipe(Effect.provideService(WorkflowEngine.WorkflowEngine, engine))
    }
  })
}) {
  static readonly layer = Layer.effect(Letters, Letters.make)
}

const routes = group("Letters", "/letters")
const plugin = definePlugin({
  id: "letters",
  version: "1.0.0",
  schema: () => [letters],
  layer: Letters.layer,
  workflows: [Letter.behaviour(({ to }) => Letters.use(({ write }) => write(to)))],
  routes: () => [
    routes.post("/", {
      auth: true,
      input: Schema.Struct({ to: Text, isRefused: Schema.optional(Schema.Boolean) })
    })
      .handle(({ db, input, jobs }) =>
        Effect.andThen(Letter.start(jobs, input), input.isRefused === true ? Effect.fail(new Late()) : Effect.void)
          .pipe(
            db.transaction
          )
      ),
    routes.get("/:to", { auth: true, params: { to: Schema.String } })
      .handle(({ params }) => Letters.use(({ end }) => end(params.to)))
  ]
})

const start = (body: object) => Effect.map(api("POST", "/api/letters", { as: asAdmin, body }), ({ status }) => status)
const ended = (to: string) =>
  eventually(
    `the letter to ${to} to be written`,
    Effect.map(api("GET", `/api/letters/${to}`, { as: asAdmin }), ({ body }) => {
      const text = JSON.stringify(body)
      return text.includes("Complete") ? text : undefined
    })
  )
const written = onDatabase((sql) => sql`select person, author from letters order by 1`)

layer(testAppLayer({ plugins: [plugin] }), live)(
  "a workflow of a plugin",
  (it) => {
    it.effect("runs once for a key, as the service itself, and again after a defect", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* Effect.all(["ada", "ada"].map((to) => start({ to }))), [201, 201])
        assert.include(yield* ended("ada"), "3")
        assert.strictEqual(yield* start({ to: "ada" }), 201)
        assert.strictEqual(yield* start({ to: "grace" }), 201)
        yield* ended("grace")
        assert.deepStrictEqual(yield* written, [
          { person: "ada", author: "system" },
          { person: "grace", author: "system" }
        ])
      }), 180_000)

    it.effect("is another one in another organization", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        for (const as of [asAdmin, elsewhere]) yield* api("POST", "/api/letters", { as, body: { to: "both" } })
        yield* eventually(
          "both to write",
          Effect.map(
            onDatabase((sql) => sql`select distinct organization_id from letters where person = 'both'`),
            (rows) => rows.length === 2
          )
        )
      }), 180_000)

    it.effect("does not start when the transaction of its caller is rolled back", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* start({ to: "anyone", isRefused: true }), 409)
        const jobs = yield* onDatabase((sql) => sql`select 1 from commerce_jobs where input->'input'->>'to' = 'anyone'`)
        assert.deepStrictEqual(jobs, [])
      }))

    it.effect("ends with a failure of its type", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* start({ to: "late" }), 201)
        assert.include(yield* ended("late"), "Too late.")
      }), 180_000)
  }
)
