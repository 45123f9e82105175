import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import {
  boolean,
  definePlugin,
  group,
  integer,
  json,
  resource,
  table,
  Text,
  text,
  Uuid,
  visibleRows
} from "stoa/plugin"
import { contractOf, createPluginTestApp, testAdminActor } from "stoa/plugin/testing"
import { api, asAdmin, asAnonymous, asCustomer, inOrganization, live, testAppLayer } from "../support/TestApp.ts"
import { contacts, supply } from "./Suppliers.ts"

const place = "/api/supply/suppliers"
const send = (method: string, path: string, body?: object, as: object = asAdmin) =>
  api(method, path, { as, ...(body === undefined ? {} : { body }) })
let codes = 0
const create = (body: object = {}) => send("POST", place, { code: `C${++codes}`, name: `Supplier ${codes}`, ...body })
const namesAt = (path: string) =>
  Effect.map(send("GET", path), (answer) => {
    assert.strictEqual(answer.status, 200)
    return answer.list("data").map((row) => Reflect.get(Object(row), "name"))
  })

layer(testAppLayer({ plugins: [supply] }), live)("a resource", (it) => {
  it.effect("is created, read, changed and deleted, with an entry in the change log for each", () =>
    Effect.gen(function*() {
      const made = yield* create({ name: "Acme", channels: ["edi"], since: "2020-01-31" })
      assert.deepStrictEqual([made.status, made.at("data.status"), made.at("data.leadDays")], [201, "candidate", 7])
      const path = `${place}/${made.text("data.id")}`
      assert.deepStrictEqual((yield* send("GET", path)).at("data"), made.at("data"))
      const changed = yield* send("PATCH", path, { email: "a@acme.example", leadDays: 3 })
      assert.deepStrictEqual(
        [changed.status, changed.at("data.email"), changed.at("data.leadDays"), changed.at("data.name")],
        [200, "a@acme.example", 3, "Acme"]
      )
      assert.strictEqual((yield* send("PATCH", path, {})).at("data.leadDays"), 3)
      assert.strictEqual((yield* send("DELETE", path)).at("data.email"), "a@acme.example")
      assert.strictEqual((yield* send("DELETE", path)).status, 404)
      const sql = yield* SqlClient.SqlClient
      const entries = yield* sql`select type from outbox_events where entity_id = ${made.text("data.id")}
        order by entry_number`
      assert.deepStrictEqual(entries.map((row) => row["type"]), [
        "supply/supply_suppliers.create",
        "supply/supply_suppliers.update",
        "supply/supply_suppliers.delete"
      ])
    }))

  it.effect("answers 404, 409 and 422 as its table does", () =>
    Effect.gen(function*() {
      const made = yield* create()
      const path = `${place}/${made.text("data.id")}`
      assert.strictEqual((yield* create({ code: made.text("data.code") })).at("error.code"), "CONFLICT")
      for (const body of [{ name: "" }, { channels: ["fax"] }, { since: "2020-02-31" }, { leadDays: 0.5 }]) {
        assert.strictEqual((yield* send("PATCH", path, body)).at("error.code"), "VALIDATION_FAILED")
      }
      assert.strictEqual((yield* send("POST", place, { name: "no code" })).status, 422)
      const outsider = inOrganization("org_other", asAdmin)
      for (const [method, body] of [["GET"], ["PATCH", {}], ["DELETE"]] as const) {
        assert.strictEqual((yield* send(method, path, body, outsider)).status, 404)
        assert.strictEqual((yield* send(method, `${place}/${randomUUID()}`, body)).status, 404)
      }
      const contact = yield* send("POST", "/api/supply/contacts", { supplierId: made.text("data.id"), name: "Ann" })
      assert.strictEqual(contact.status, 201)
      assert.strictEqual((yield* send("DELETE", path)).status, 409)
      const strange = { supplierId: randomUUID(), name: "Ben" }
      assert.strictEqual((yield* send("POST", "/api/supply/contacts", strange)).status, 422)
    }))

  it.effect("lists its rows in pages, by its filters and by a text in several columns", () =>
    Effect.gen(function*() {
      yield* create({ name: "Umbrella Ltd", email: "sales@rain.example", leadDays: 41, isLocal: true })
      yield* create({ name: "Rainwear", leadDays: 42, channels: ["mail", "edi"], since: "1999-12-31" })
      yield* create({ name: "Sunshade", leadDays: 43, channels: ["mail"] })
      const found = (query: string) => namesAt(`${place}?${query}`)
      assert.deepStrictEqual(yield* found("search=RAIN"), ["Umbrella Ltd", "Rainwear"], "in the order of the codes")
      assert.deepStrictEqual(yield* found("search=rain&isLocal=true"), ["Umbrella Ltd"])
      assert.deepStrictEqual(yield* found("search=%25"), [])
      assert.deepStrictEqual(yield* found("leadDays=43&search="), ["Sunshade"])
      assert.deepStrictEqual(yield* found("channels=edi&since=1999-12-31"), ["Rainwear"])
      const page = yield* send("GET", `${place}?search=rain&limit=1&page=2`)
      assert.deepStrictEqual(
        [page.at("data.0.name"), page.at("meta.pagination.total"), page.at("meta.pagination.totalPages")],
        ["Rainwear", 2, 2]
      )
      for (const wrong of ["status=new", "isLocal=1", "leadDays=many", "since=yesterday", "search=%00"]) {
        assert.strictEqual((yield* send("GET", `${place}?${wrong}`)).status, 422, wrong)
      }
    }))

  it.effect("moves by its machine alone, and asks for the permission of each move", () =>
    Effect.gen(function*() {
      const made = yield* create({ status: "approved", approvedBy: "me" })
      assert.deepStrictEqual([made.at("data.status"), made.at("data.approvedBy")], ["candidate", null])
      const path = `${place}/${made.text("data.id")}`
      const writer = { ...asAnonymous, userId: "kim", permissions: ["supply:write"] }
      const approved = yield* send("POST", `${path}/approve`, undefined, writer)
      assert.deepStrictEqual(
        [approved.status, approved.at("data.status"), approved.at("data.approvedBy")],
        [201, "approved", "kim"]
      )
      assert.strictEqual((yield* send("POST", `${path}/approve`)).at("error.code"), "INVALID_TRANSITION")
      assert.strictEqual((yield* send("POST", `${path}/block-for-now`, undefined, writer)).status, 403)
      assert.strictEqual((yield* send("POST", `${path}/block-for-now`)).at("data.status"), "blocked")
      assert.strictEqual((yield* send("POST", `${place}/${randomUUID()}/approve`)).status, 404)
    }))

  it.effect("of rows that have owners shows and changes only theirs", () =>
    Effect.gen(function*() {
      const inquiries = "/api/supply/inquiries"
      const [ann, ben] = [asCustomer("ann"), asCustomer("ben")]
      const made = yield* send("POST", inquiries, { item: "screws" }, ann)
      yield* send("POST", inquiries, { item: "screws" }, ben)
      const seen = (as: object) =>
        Effect.map(send("GET", `${inquiries}?search=SCR`, undefined, as), ({ list }) => list("data").length)
      assert.deepStrictEqual([yield* seen(ann), yield* seen(ben), yield* seen(asAdmin)], [1, 1, 2])
      const path = `${inquiries}/${made.text("data.id")}`
      for (const [method, body] of [["GET"], ["PATCH", { item: "nuts" }], ["DELETE"]] as const) {
        assert.strictEqual((yield* send(method, path, body, ben)).status, 404)
      }
      assert.strictEqual((yield* send("PATCH", path, { item: "nuts" }, ann)).at("data.item"), "nuts")
      assert.strictEqual((yield* send("DELETE", path, undefined, ann)).status, 200)
    }))

  it.effect("leaves routes out, and lets handlers with the plugin's services answer others", () =>
    Effect.gen(function*() {
      const quick = "/api/supply/quick-suppliers"
      const made = yield* send("POST", quick, { name: "Quick", leadDays: 77, email: "q@quick.example" })
      assert.deepStrictEqual([made.status, made.at("data.code")], [201, "S-1"])
      assert.deepStrictEqual(yield* namesAt(`${quick}?leadDays=77`), ["Quick"])
      const path = `${quick}/${made.text("data.id")}`
      const changed = yield* send("PATCH", path, { leadDays: 1 })
      assert.deepStrictEqual([changed.at("data.leadDays"), changed.at("data.email")], [1, null])
      for (const method of ["GET", "DELETE"]) assert.isAtLeast((yield* send(method, path)).status, 404)
    }))
})

describe("a resource of a plugin", () => {
  plain("keeps to the rules of every plugin and describes its routes", async () => {
    const test = await createPluginTestApp(supply)
    try {
      for (const { name, run } of contractOf(test, { bodies: 4 })) {
        await run().catch((error) => assert.fail(`${name}: ${error}`))
      }
      const { body } = await test.app.request("GET", "/api/doc")
      const said = JSON.stringify(body)
      for (
        const sentence of [
          "List quick suppliers",
          "Change a supplier",
          "409 when another one has the same code.",
          "422 INVALID_TRANSITION when its status is not candidate or blocked.",
          "Only rows with this text in name or email, in capitals or not."
        ]
      ) assert.include(said, sentence)
    } finally {
      await test.close()
    }
  })

  plain(
    "takes the bodies, answers and rows that its options declare, and leaves out what no one may write",
    async () => {
      const notes = table("board_notes", {
        title: text,
        shelf: text,
        votes: integer.default(0),
        isHidden: boolean.default(false)
      })
      const anybody = { public: "a test" }
      const board = group("Board", "/board")
      const open = visibleRows(["isHidden"], () => Effect.succeed({ isHidden: false }))
      const Shown = Schema.Struct({ id: Uuid, label: Schema.String })
      const plugin = definePlugin({
        id: "board",
        version: "1.0.0",
        schema: () => [notes],
        routes: () => [
          ...resource(board, "/notes", notes, {
            noun: "note",
            read: anybody,
            write: { auth: true },
            filters: ["shelf"],
            visible: open,
            view: {
              success: Shown,
              show: (rows) => Effect.succeed(rows.map(({ id, shelf, title }) => ({ id, label: `${shelf}/${title}` })))
            },
            list: {
              query: { least: Schema.optional(Schema.FiniteFromString) },
              answer: ({ db, page, query: { least = 0 }, where }) =>
                db.table(notes).page({ ...where, votes: { gte: least } }, page)
            },
            create: {
              summary: "Write down a note",
              allowed: anybody,
              input: Schema.Struct({ words: Schema.Array(Text).check(Schema.isMaxLength(2)) }),
              answer: ({ db, input: { words: [title = "", shelf = ""] } }) => db.table(notes).insert({ title, shelf })
            },
            patch: {
              input: Schema.Struct({ by: Schema.Int }),
              success: notes.Row,
              answer: ({ db, input: { by }, which }) => db.table(notes).update(which, { votes: by, isHidden: by < 0 })
            },
            remove: {
              success: Schema.Struct({ gone: Schema.String }),
              answer: ({ db, which }) => Effect.map(db.table(notes).delete(which), ({ title }) => ({ gone: title }))
            }
          }),
          ...resource(board, "/all-notes", notes, { noun: "note", read: anybody })
        ]
      })
      const test = await createPluginTestApp(plugin)
      try {
        const ask = async (method: string, path: string, body?: object) => {
          const got = await test.app.request(method, `/api/board${path}`, { as: testAdminActor, ...(body && { body }) })
          return [got.status, Object(got.body).data]
        }
        const [status, made] = await ask("POST", "/notes", { words: ["tea", "kitchen"] })
        const path = `/notes/${made.id}`
        assert.deepStrictEqual([status, made.label], [201, "kitchen/tea"])
        assert.deepStrictEqual(await ask("GET", path), [200, made])
        assert.strictEqual((await ask("POST", "/notes", { title: "tea" }))[0], 422)
        const [, changed] = await ask("PATCH", path, { by: 3 })
        assert.deepStrictEqual([changed.title, changed.votes], ["tea", 3])
        assert.deepStrictEqual(await ask("GET", "/notes?least=3&shelf=kitchen"), [200, [made]])
        assert.deepStrictEqual(await ask("GET", "/notes?least=4"), [200, []])
        await ask("PATCH", path, { by: -1 })
        for (const [method, body] of [["GET"], ["PATCH", { by: 1 }], ["DELETE"]] as const) {
          assert.strictEqual((await ask(method, path, body))[0], 404, method)
        }
        assert.deepStrictEqual(await ask("GET", "/notes"), [200, []])
        assert.strictEqual((await ask("GET", "/all-notes"))[1][0].title, "tea")
        for (
          const [method, to] of [["POST", "/all-notes"], ["PATCH", `/all-notes/${made.id}`], [
            "DELETE",
            `/all-notes/${made.id}`
          ]] as const
        ) {
          assert.oneOf((await ask(method, to, method === "DELETE" ? undefined : {}))[0], [404, 405], method)
        }
        const other = await ask("POST", "/notes", { words: ["ink", "office"] })
        assert.deepStrictEqual(await ask("DELETE", `/notes/${other[1].id}`), [200, { gone: "ink" }])
      } finally {
        await test.close()
      }
    }
  )

  plain("is refused where a column would have no value, a filter cannot be one, or a route has no callers", () => {
    const notes = table("supply_notes", { title: text, author: text, extra: json.nullable })
    const routes = group("Notes", "/notes")
    const allowed = { noun: "note", read: "notes:read", write: "notes:write" }
    assert.throws(
      () => resource(routes, "/notes", notes, { ...allowed, without: ["author"] }),
      `The resource "/notes" needs a \`create\` that fills in "author".`
    )
    assert.throws(() => resource(routes, "/notes", notes, { ...allowed, filters: ["extra"] }), "cannot be filtered")
    assert.throws(
      () => resource(routes, "/notes", notes, { noun: "note", read: "notes:read", remove: () => Effect.die("never") }),
      "\"Delete a note\" needs `allowed`, or `write` of its resource."
    )
    const ofContacts = resource(routes, "/contacts", contacts, { ...allowed, noun: "contact" })
    assert.strictEqual(ofContacts.length, 5)
  })
})
