import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Schema } from "effect"
import {
  beforeHook,
  definePlugin,
  defineTask,
  EntityId,
  type EventCondition,
  group,
  idOf,
  integer,
  oneOf,
  OrderId,
  type PluginManifest,
  rowIn,
  statements,
  table,
  Text,
  text,
  Uuid,
  uuid
} from "stoa/plugin"
import type { EntityTable } from "../../src/domain/platform/hooks/EntityTables.ts"
import { anOrganization } from "../support/Organizations.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { api, asAdmin, testAppOn } from "../support/TestApp.ts"

const plugin = (rest: Partial<PluginManifest>) => definePlugin({ id: "notes", version: "1.0.0", ...rest })
const routes = group("Notes", "/notes")

/** Starts the service with the plugins on the database, and does something with it. */
const start = <A, E, R>(
  url: string,
  plugins: ReadonlyArray<ReturnType<typeof plugin>>,
  work: Effect.Effect<A, E, R>
) => Effect.provide(work, testAppOn(url, { plugins }))

const refusal = (url: string, plugins: ReadonlyArray<ReturnType<typeof plugin>>) =>
  Effect.map(
    Effect.exit(Effect.scoped(Layer.build(testAppOn(url, { plugins })))),
    (exit) => (Exit.isFailure(exit) ? String(exit.cause) : "it started")
  )

const before = table("notes_pages", { title: text })
const open = (definition: typeof before) =>
  routes.post("/pages", { auth: true, input: Schema.Struct({ title: Text }), success: definition.Row })
    .handle(({ db, input }) => db.table(definition).insert(input))

describe("a plugin's tables", () => {
  it.live("grow with their definitions, and what was there stays", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const make = api("POST", "/api/notes/pages", { as: asAdmin, body: { title: "first" } })
      yield* start(url, [plugin({ schema: () => [before], routes: () => [open(before)] })], make)
      const after = table("notes_pages", {
        title: text,
        stars: integer.default(3),
        color: oneOf(["red", "blue"]).nullable
      }, { unique: [{ columns: ["title"] }] })
      const list = routes.list("/pages", { auth: true, success: after.Row }).handle(({ db, page }) =>
        db.table(after).page({}, page)
      )
      const { body, again } = yield* start(
        url,
        [plugin({ schema: () => [after], routes: () => [list, open(before)] })],
        Effect.gen(function*() {
          return { body: yield* api("GET", "/api/notes/pages", { as: asAdmin }), again: yield* make }
        })
      )
      assert.deepStrictEqual([body.at("data.0.title"), body.at("data.0.stars"), body.at("data.0.color")], [
        "first",
        3,
        null
      ])
      assert.strictEqual(again.status, 409)
    })))

  it.live(
    "end the start when adding cannot make them what they should be, and a numbered migration does",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* freshDatabase
        yield* start(url, [plugin({ schema: () => [before] })], Effect.void)
        const changed = table("notes_pages", { title: integer })
        const message = yield* refusal(url, [plugin({ schema: () => [changed] })])
        assert.match(message, /Plugin "notes": column "title" of notes_pages is text and not int4/)
        const migrations = {
          "0001_numbers": statements("alter table notes_pages alter title type int using length(title)")
        }
        assert.strictEqual(yield* refusal(url, [plugin({ schema: () => [changed], migrations })]), "it started")
      }))
  )

  it.live(
    "take further words of a column, and conditions that say something else",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* freshDatabase
        const colored = (colors: readonly [string, ...ReadonlyArray<string>], most: number) => {
          const pages = table("notes_pages", { color: oneOf(colors), stars: integer }, {
            checks: { few: `stars < ${most}` }
          })
          const input = Schema.Struct({ color: Text, stars: Schema.Int })
          const route = routes.post("/pages", { auth: true, input })
            .handle(({ db, input }) => db.table(pages).insert(input))
          return plugin({ schema: () => [pages], routes: () => [route] })
        }
        const statuses = Effect.gen(function*() {
          const make = (body: object) =>
            Effect.map(api("POST", "/api/notes/pages", { as: asAdmin, body }), (a) => a.status)
          return [yield* make({ color: "green", stars: 1 }), yield* make({ color: "red", stars: 7 })]
        })
        assert.deepStrictEqual(yield* start(url, [colored(["red"], 5)], statuses), [422, 422])
        assert.deepStrictEqual(yield* start(url, [colored(["red", "green"], 9)], statuses), [201, 201])
      }))
  )

  it.live("refer to rows of their own organization alone", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const lines = table("notes_lines", { pageId: uuid.references(before), line: text })
      const add = routes.post("/lines", {
        auth: true,
        input: Schema.Struct({ pageId: Uuid }),
        success: lines.Row
      }).handle(({ db, input }) => db.table(lines).insert({ ...input, line: "x" }))
      yield* start(
        url,
        [plugin({ schema: () => [before, lines], routes: () => [open(before), add] })],
        Effect.gen(function*() {
          const page = yield* api("POST", "/api/notes/pages", { as: asAdmin, body: { title: "first" } })
          const body = { pageId: page.text("data.id") }
          assert.strictEqual((yield* api("POST", "/api/notes/lines", { as: asAdmin, body })).status, 201)
          const outsider = yield* anOrganization
          assert.strictEqual((yield* api("POST", "/api/notes/lines", { as: outsider, body })).status, 422)
        })
      )
    })))

  it.live("end the start when rows have no value for a new column", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const make = api("POST", "/api/notes/pages", { as: asAdmin, body: { title: "first" } })
      yield* start(url, [plugin({ schema: () => [before], routes: () => [open(before)] })], make)
      const more = table("notes_pages", { title: text, owner: uuid })
      assert.match(yield* refusal(url, [plugin({ schema: () => [more] })]), /column "owner" of notes_pages is new/)
    })))

  it.live("are not those of the core or of another plugin", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const carts = plugin({ schema: () => [table("carts", { title: text })] })
      assert.match(yield* refusal(url, [carts]), /table "carts" of plugin "notes" belongs to the core/)
      yield* start(url, [plugin({ schema: () => [before] })], Effect.void)
      const other = definePlugin({ id: "other", version: "1.0.0", schema: () => [before] })
      assert.match(yield* refusal(url, [other]), /table "notes_pages" of plugin "other" belongs to plugin "notes"/)
    })))
})

describe("a plugin's tasks", () => {
  it.live(
    "end the start when there is one of that slug, and both are named",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* freshDatabase
        const tasks = () => [defineTask({ slug: "notes/tidy", handler: () => Effect.void })]
        const other = definePlugin({ id: "other", version: "1.0.0", tasks })
        const message = yield* refusal(url, [plugin({ tasks }), other])
        assert.match(message, /task "notes\/tidy" of plugin "other" belongs to plugin "notes"/)
      }))
  )
})

describe("a plugin's conditions", () => {
  const refused = (pages: ReturnType<typeof table>, manifest: Partial<PluginManifest>) =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      return yield* refusal(url, [plugin({ schema: () => [pages], ...manifest })])
    })
  const kept = { created: () => Effect.succeed(undefined), changed: () => Effect.void }

  it.live(
    "end the start when they name a table that is not there, or that no index finds by its entity or order",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const [entityId, orderId] = [idOf(EntityId), idOf(OrderId)]
        const slow = table("notes_slow", { entityId, orderId })
        const some = { indexes: [{ columns: ["entityId"], where: "order_id is null" }] } as const
        const partial = table("notes_partial", { entityId, orderId }, some)
        const quick = table("notes_quick", { entityId: entityId.unique(), orderId })
        const hooksIn = (entitiesIn: EntityTable) => ({
          hooks: () => [beforeHook("cart.beforeAddItem", () => {}, { entitiesIn })]
        })
        assert.match(yield* refused(before, hooksIn(slow)), /"notes_slow", which no plugin has in its `schema`/)
        assert.match(
          yield* refused(slow, hooksIn(slow)),
          /"notes_slow": make "entityId" unique there, or the first column/
        )
        assert.match(yield* refused(partial, hooksIn(partial)), /"notes_partial": make "entityId" unique/)
        const projection = { orderProjection: () => ({ ...kept, only: { entitiesIn: quick, ordersIn: quick } }) }
        assert.match(yield* refused(quick, projection), /"notes_quick": make "orderId" unique/)
        assert.strictEqual(yield* refused(quick, hooksIn(quick)), "it started")
      }))
  )
})

describe("a condition of a subscription", () => {
  const refused = (only: EventCondition) =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const onEvents = { "orders.create": { handler: () => Effect.void, only } }
      return yield* refusal(url, [plugin({ schema: () => [slow], onEvents })])
    })
  const slow = table("notes_slow", { orderId: idOf(OrderId) })

  it.live(
    "ends the start when no index finds its rows, or it is no jsonpath",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const unindexed = yield* refused({ rowsIn: [rowIn(slow, { column: "orderId" })] })
        assert.match(unindexed, /"notes_slow": make "orderId" unique there/)
        assert.match(yield* refused({ record: "$.status ? (" }), /no jsonpath: "\$\.status \? \("/)
      }))
  )
})

describe("a plugin's search fields", () => {
  const field = (name: string): Partial<PluginManifest> => ({
    searchDocuments: () => [{ name, kind: "text", of: () => Effect.succeed(new Map()) }]
  })

  it.live("end the start when a name is taken or cannot be one", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const other = definePlugin({ id: "other", version: "1.0.0", ...field("said") })
      const message = yield* refusal(url, [plugin(field("said")), other])
      assert.match(message, /search field "said" of plugin "other" belongs to plugin "notes" already/)
      for (const name of ["brand", "what they said"]) {
        assert.match(yield* refusal(url, [plugin(field(name))]), /search field ".*" needs 1 to 64 letters/)
      }
    })))
})

describe("a plugin's routes", () => {
  const get = (path: string, guard: { auth?: boolean; permission?: string }) =>
    routes.get(path, { ...guard, success: Schema.Null }).handle(() => Effect.succeed(null))

  for (
    const [what, route, message] of [
      ["say nothing of who may ask", get("/a", {}), /Unclassified routes: GET \/api\/notes\/a of plugin "notes"/],
      [
        "ask for an undeclared permission",
        get("/a", { permission: "notes:x" }),
        /"notes:x", which is not declared/
      ],
      [
        "stand where the core has one",
        group("Notes", "/catalog").get("/entities/:some", { auth: true, success: Schema.Null }).handle(() =>
          Effect.succeed(null)
        ),
        /GET \/api\/catalog\/entities\/:some of plugin "notes" belongs to the core/
      ]
    ] as const
  ) {
    it.live(`end the start when they ${what}`, () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* freshDatabase
        assert.match(yield* refusal(url, [plugin({ routes: () => [route] })]), message)
      })))
  }
})
