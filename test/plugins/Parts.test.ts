import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import {
  boolean,
  childOf,
  conflict,
  definePlugin,
  document,
  group,
  integer,
  invalid,
  machine,
  moveOf,
  oneOf,
  resource,
  table,
  Text,
  text,
  uuid,
  visibleRows
} from "stoa/plugin"
import { contractOf, createPluginTestApp, machineOf } from "stoa/plugin/testing"
import { api, asAdmin, asCustomer, inOrganization, live, testAppLayer } from "../support/TestApp.ts"

const shelves = table("store_shelves", {
  name: text,
  places: integer.default(2),
  status: oneOf(["open", "full", "closed"]).default("open"),
  note: text.nullable
}, { strict: true })
const boxes = childOf(shelves, "shelfId", "store_boxes", { shelfId: uuid.references(shelves), label: text }, {
  strict: true
})
/** Rows of the organization that refer to a shelf. */
const labels = table("store_labels", { shelfId: uuid.references(shelves), words: text, isShown: boolean.default(true) })
const shelf = machine(shelves, {
  noun: "shelf",
  moves: {
    fill: { from: ["open"], to: "full" },
    close: { from: ["open", "full"], to: "closed", emits: "shelf.closed" }
  }
})
const wholeShelves = document({ head: shelves, lines: boxes })

class ShelfFull extends conflict("ShelfFull", "The shelf is full.") {}
class WordMissing extends invalid("WordMissing", "note", "note must not be empty.") {}

const routes = group("Store", "/store")
const rule = { read: { auth: true }, write: "store:write" }
const of = { table: shelves, noun: "shelf" } as const
const boxesOf = { ...rule, of, noun: "box", rowId: "boxId" } as const

const store = definePlugin({
  id: "store",
  version: "1.0.0",
  permissions: [{ scope: "store:write", description: "Write shelves" }],
  schema: () => ({ shelves, boxes, labels }),
  events: ["shelf.closed"],
  routes: () => [
    ...resource(routes, "/shelves", shelves, { ...rule, noun: "shelf", get: wholeShelves.whole("shelf", "boxes") }),
    ...resource(routes, "/shelves/:id/boxes", boxes, { ...boxesOf, order: ["label"] }),
    // No shelf has more boxes than places, and its last one stays.
    ...resource(routes, "/bounded/{shelf}/boxes", boxes, {
      ...boxesOf,
      of: { ...of, lock: true },
      create: {
        summary: "Put a box on a shelf with a free place",
        answer: ({ db, input, parent }) =>
          Effect.gen(function*() {
            const taken = yield* db.table(boxes).count({ shelfId: parent.id })
            return taken < parent.places
              ? yield* db.table(boxes).insert({ ...input, shelfId: parent.id })
              : yield* new ShelfFull()
          })
      },
      patch: ({ db, input, parent, which }) =>
        db.table(boxes).update(which, { label: `${parent.name}: ${input.label ?? ""}` }),
      remove: { summary: "Take a box off" }
    }),
    ...resource(routes, "/shelves/:id/labels", labels, {
      ...rule,
      noun: "label",
      of: { ...of, column: "shelfId" },
      rowId: "labelId",
      filters: ["isShown"],
      visible: visibleRows(["isShown"], () => Effect.succeed({ isShown: true }))
    }),
    moveOf(routes, "/shelves", shelf, "close", {
      summary: "Close a shelf",
      allowed: "store:write",
      input: Schema.Struct({ note: Text }),
      change: ({ input }) => input,
      after: ({ note }) => note === "?" ? Effect.fail(new WordMissing()) : Effect.void
    }),
    moveOf(routes, "/shelves", shelf, "fill", {
      allowed: { auth: true },
      visible: visibleRows(["note"], ({ actor }) => Effect.succeed({ note: actor.userId ?? "" })),
      success: Schema.Struct({ filled: Schema.String }),
      answer: ({ db, which }) => Effect.map(db.use(shelf).move("fill", which), ({ name }) => ({ filled: name }))
    })
  ]
})

const send = (method: string, path: string, body?: object, as: object = asAdmin) =>
  api(method, `/api/store${path}`, { as, ...(body === undefined ? {} : { body }) })
const newShelf = (body: object = {}) =>
  Effect.map(send("POST", "/shelves", { name: "Shelf", ...body }), (made) => made.text("data.id"))
const labelled = (path: string) =>
  Effect.map(send("GET", path), ({ list }) => list("data").map((row) => Reflect.get(Object(row), "label")))
const outsider = inOrganization("org_other", asAdmin)

layer(testAppLayer({ plugins: [store] }), live)("rows of a parent", (it) => {
  it.effect("are made, listed, read, changed and deleted under it, and under no other", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* newShelf(), yield* newShelf()]
      const path = `/shelves/${one}/boxes`
      const made = yield* send("POST", path, { label: "B" })
      assert.deepStrictEqual([made.status, made.at("data.shelfId")], [201, one])
      yield* send("POST", path, { label: "A" })
      yield* send("POST", `/shelves/${other}/boxes`, { label: "C" })
      assert.deepStrictEqual(yield* labelled(path), ["A", "B"])
      const [box, elsewhere] = [made.text("data.id"), `/shelves/${other}/boxes/${made.text("data.id")}`]
      assert.strictEqual((yield* send("GET", `${path}/${box}`)).at("data.label"), "B")
      assert.strictEqual((yield* send("PATCH", `${path}/${box}`, { label: "D" })).at("data.label"), "D")
      for (const [method, body] of [["GET"], ["PATCH", { label: "E" }], ["DELETE"]] as const) {
        assert.strictEqual((yield* send(method, elsewhere, body)).status, 404, method)
      }
      const whole = yield* send("GET", `/shelves/${one}`)
      assert.deepStrictEqual(
        [whole.at("data.shelf.id"), whole.list("data.boxes").map((row) => Reflect.get(Object(row), "label"))],
        [one, ["D", "A"]]
      )
      assert.strictEqual((yield* send("DELETE", `${path}/${box}`)).status, 200)
      assert.deepStrictEqual(yield* labelled(path), ["A"])
    }))

  it.effect("stay with their parent: no body names it", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* newShelf(), yield* newShelf()]
      const made = yield* send("POST", `/shelves/${one}/boxes`, { label: "A" })
      const strange = { label: "B", shelfId: other }
      assert.strictEqual((yield* send("POST", `/shelves/${one}/boxes`, strange)).status, 422)
      const path = `/shelves/${one}/boxes/${made.text("data.id")}`
      assert.strictEqual((yield* send("PATCH", path, strange)).status, 422)
      const label = yield* send("POST", `/shelves/${one}/labels`, { words: "Tea", shelfId: other })
      assert.deepStrictEqual([label.status, label.at("data.shelfId")], [201, one])
    }))

  it.effect("are 404 under a parent of another organization, or of none", () =>
    Effect.gen(function*() {
      const id = yield* newShelf()
      for (const place of ["shelves", "bounded"]) {
        const made = yield* send("POST", `/${place}/${id}/boxes`, { label: "A" })
        assert.strictEqual(made.status, 201)
        const requests = [["GET", ""], ["POST", "", { label: "B" }], ["GET", `/${made.text("data.id")}`], [
          "PATCH",
          `/${made.text("data.id")}`,
          { label: "B" }
        ], ["DELETE", `/${made.text("data.id")}`]] as const
        for (const [method, end, body] of requests) {
          const foreign = yield* send(method, `/${place}/${id}/boxes${end}`, body, outsider)
          assert.strictEqual(foreign.status, 404, `${method} ${place}${end}`)
          const nowhere = yield* send(method, `/${place}/${randomUUID()}/boxes${end}`, body)
          assert.strictEqual(nowhere.status, 404, `${method} ${place}${end}`)
        }
        const refused = yield* send("POST", `/${place}/${randomUUID()}/boxes`, { label: "B" })
        assert.strictEqual(refused.at("error.message"), "Shelf not found.")
        assert.deepStrictEqual(yield* labelled(`/${place}/${id}/boxes`), place === "shelves" ? ["A"] : ["A", "A"])
      }
      const empty = yield* newShelf()
      assert.strictEqual((yield* send("GET", `/shelves/${empty}/labels`)).status, 200)
      assert.strictEqual((yield* send("GET", `/shelves/${empty}/labels`, undefined, outsider)).status, 404)
      assert.strictEqual((yield* send("POST", `/shelves/${empty}/labels`, { words: "x" }, outsider)).status, 404)
    }))

  it.effect("of a locked parent keep to its bound when several come at once", () =>
    Effect.gen(function*() {
      const id = yield* newShelf({ places: 3 })
      const path = `/bounded/${id}/boxes`
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, (_, n) => send("POST", path, { label: `box ${n}` })),
        { concurrency: "unbounded" }
      )
      const statuses = answers.map(({ status }) => status).toSorted()
      assert.deepStrictEqual(statuses, [201, 201, 201, 409, 409, 409, 409, 409])
      const [first] = (yield* send("GET", path)).list("data")
      const box = `${path}/${Reflect.get(Object(first), "id")}`
      assert.strictEqual((yield* send("PATCH", box, { label: "x" })).at("data.label"), "Shelf: x")
      assert.strictEqual((yield* send("DELETE", box)).status, 200)
      assert.strictEqual((yield* send("POST", path, { label: "again" })).status, 201)
    }))

  it.effect("keep to what the actor may see", () =>
    Effect.gen(function*() {
      const path = `/shelves/${yield* newShelf()}/labels`
      const hidden = yield* send("POST", path, { words: "Secret", isShown: false })
      const shown = yield* send("POST", path, { words: "Tea" })
      const found = yield* send("GET", `${path}?isShown=true`)
      assert.deepStrictEqual(found.list("data").map((row) => Reflect.get(Object(row), "id")), [shown.text("data.id")])
      assert.strictEqual((yield* send("GET", `${path}/${hidden.text("data.id")}`)).status, 404)
      assert.strictEqual((yield* send("DELETE", `${path}/${hidden.text("data.id")}`)).status, 404)
    }))
})

layer(testAppLayer({ plugins: [store] }), live)("a move that takes a body or does more", (it) => {
  it.effect("writes what its body says, once, with its event", () =>
    Effect.gen(function*() {
      const id = yield* newShelf()
      const close = send("POST", `/shelves/${id}/close`, { note: "broken" })
      const answers = yield* Effect.all([close, close, close], { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 422, 422])
      const [done] = answers.filter(({ status }) => status === 201)
      assert.deepStrictEqual([done?.at("data.status"), done?.at("data.note")], ["closed", "broken"])
      const sql = yield* SqlClient.SqlClient
      const emitted = yield* sql`select 1 from outbox_events where entity_id = ${id} and type = 'shelf.closed'`
      assert.lengthOf(emitted, 1)
      assert.strictEqual(
        (yield* send("POST", `/shelves/${id}/close`, { note: 1 })).at("error.code"),
        "VALIDATION_FAILED"
      )
    }))

  it.effect("is taken back with what follows it", () =>
    Effect.gen(function*() {
      const id = yield* newShelf()
      const refused = yield* send("POST", `/shelves/${id}/close`, { note: "?" })
      assert.deepStrictEqual([refused.status, refused.at("error.message")], [422, "note must not be empty."])
      const after = yield* send("GET", `/shelves/${id}`)
      assert.deepStrictEqual([after.at("data.shelf.status"), after.at("data.shelf.note")], ["open", null])
    }))

  it.effect("is 404 for rows that the actor does not see, and answers as it says", () =>
    Effect.gen(function*() {
      const id = yield* newShelf({ note: "ann" })
      assert.strictEqual((yield* send("POST", `/shelves/${id}/fill`, undefined, asCustomer("ben"))).status, 404)
      const filled = yield* send("POST", `/shelves/${id}/fill`, undefined, asCustomer("ann"))
      assert.deepStrictEqual([filled.status, filled.at("data")], [201, { filled: "Shelf" }])
      assert.strictEqual((yield* send("POST", `/shelves/${id}/close`, { note: "x" }, outsider)).status, 404)
    }))
})

describe("a plugin with rows of parents", () => {
  plain("keeps to the rules of every plugin and to its moves", async () => {
    const test = await createPluginTestApp(store)
    try {
      const checks = [
        ...contractOf(test, { bodies: 4 }),
        ...machineOf(test, shelf, {
          without: ["fill"],
          bodies: { close: { note: "done" } }
        })
      ]
      for (const { name, run } of checks) await run().catch((error) => assert.fail(`${name}: ${error}`))
    } finally {
      await test.close()
    }
  })

  plain("is refused where the path or the table names no parent", () => {
    assert.throws(
      () => resource(routes, "/shelves/:id/boxes", boxes, { ...rule, noun: "box", of }),
      `The resource "/shelves/:id/boxes" needs its shelf in the path, and a \`rowId\` of another name.`
    )
    assert.throws(() => resource(routes, "/boxes", boxes, boxesOf), "needs its shelf in the path")
    assert.throws(
      () => resource(routes, "/shelves/:id/labels", labels, { ...boxesOf, of: { ...of, column: "words" } }),
      `No column of "store_labels" refers to "store_shelves".`
    )
  })
})
