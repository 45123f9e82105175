import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import {
  childOf,
  definePlugin,
  integer,
  integerBetween,
  json,
  oneOf,
  PluginContext,
  secret,
  table,
  text,
  uuid
} from "stoa/plugin"
import { atOnce } from "../support/AtOnce.ts"
import { inDefault, pluginTables, statementsOf, within } from "./PluginTablesLayer.ts"

const shelves = table("stock_shelves", {
  code: text.unique(),
  barcode: text.unique("global").nullable,
  status: oneOf(["open", "closed"]).default("open"),
  capacity: integerBetween(0, 100).default(10),
  label: text.nullable,
  details: json.default({}),
  token: secret.nullable
})
const boxes = childOf(shelves, "shelfId", "stock_boxes", {
  shelfId: uuid.references(shelves),
  place: integer,
  kind: oneOf(["small", "large"]).default("small")
}, { unique: [{ columns: ["shelfId", "place"], where: "kind = 'small'" }] })

const stock = definePlugin({ id: "stock", version: "1.0.0", schema: () => [shelves, boxes] })

const at = Effect.map(PluginContext, ({ db }) => ({ shelves: db.table(shelves), boxes: db.table(boxes), sql: db.sql }))
const eight = [0, 1, 2, 3, 4, 5, 6, 7]
const named = (...codes: ReadonlyArray<string>) => codes.map((code) => ({ code }))

/** Entries of the change log of a row, by their types. */
const entriesOf = (id: string) =>
  Effect.flatMap(at, ({ sql }) =>
    Effect.map(
      sql`select type, payload, before from outbox_events where entity_id = ${id} order by type`,
      (rows) => rows.map((row) => [row["type"], row["payload"], row["before"]])
    ))

layer(pluginTables(stock), { excludeTestServices: true, timeout: "60 seconds" })("rows of a plugin's table", (it) => {
  it.effect("are not moved to a parent of another organization, one by one or together", () =>
    Effect.gen(function*() {
      const { boxes, shelves } = yield* at
      const [here, there] = [yield* shelves.insert({ code: "here" }), yield* shelves.insert({ code: "there" })]
      const foreign = yield* within("org_other")(shelves.insert({ code: "theirs" }))
      const { id } = yield* boxes.insert({ shelfId: here.id, place: 1 })
      const away = { shelfId: foreign.id }
      const tried = [
        yield* Effect.flip(boxes.update(id, away)),
        yield* Effect.flip(boxes.update(id, away, { place: 1 })),
        yield* Effect.flip(boxes.updateMany({ shelfId: here.id }, away))
      ]
      assert.deepStrictEqual(tried.map(({ _tag }) => _tag), Array(3).fill("ValidationFailed/ParentNotFound"))
      assert.strictEqual(
        (yield* Effect.flip(boxes.upsert({ ...away, place: 1 }, ["shelfId", "place"])))._tag,
        "Conflict/RowTaken"
      )
      assert.strictEqual((yield* boxes.get(id)).shelfId, here.id)
      assert.strictEqual((yield* boxes.update(id, { shelfId: there.id })).shelfId, there.id)
      assert.strictEqual(yield* statementsOf(boxes.update(id, { shelfId: here.id })), 1)
    }).pipe(inDefault))

  it.effect("are listed all, or as many as the limit says", () =>
    Effect.gen(function*() {
      const { boxes, shelves } = yield* at
      const { id: shelfId } = yield* shelves.insert({ code: "long" })
      yield* boxes.insertMany(Array.from({ length: 1_001 }, (_, place) => ({ shelfId, place })))
      assert.strictEqual((yield* boxes.list({ shelfId })).length, 1_001)
      const first = yield* boxes.list({ shelfId }, { order: ["place"], limit: 2 })
      assert.deepStrictEqual(first.map(({ place }) => place), [0, 1])
    }).pipe(inDefault))

  it.effect("are written one transaction at a time by those that take the same turn", () =>
    Effect.gen(function*() {
      const { db } = yield* PluginContext
      const onlyOne = db.transaction(Effect.gen(function*() {
        yield* db.turn("shelves")
        if ((yield* db.table(shelves).count({ label: "turn" })) > 0) return
        yield* db.table(shelves).insert({ code: randomUUID(), label: "turn" })
      }))
      yield* atOnce(() => db.turn("shelves").pipe(inDefault), [onlyOne, onlyOne, onlyOne])
      assert.strictEqual(yield* db.table(shelves).count({ label: "turn" }), 1)
    }).pipe(inDefault))

  it.effect("are inserted together in their order, with defaults, and each has its entry in the change log", () =>
    Effect.gen(function*() {
      const { shelves } = yield* at
      const made = yield* shelves.insertMany([
        { code: "c", capacity: 3, details: { a: [1] } },
        { code: "a", label: "it's" },
        { code: "b", label: null, status: "closed" }
      ])
      assert.deepStrictEqual(made.map((row) => [row.code, row.capacity, row.status, row.label, row.details]), [
        ["c", 3, "open", null, { a: [1] }],
        ["a", 10, "open", "it's", {}],
        ["b", 10, "closed", null, {}]
      ])
      for (const row of made) {
        const [entry] = yield* entriesOf(row.id)
        const inApi = { ...row, createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString() }
        assert.deepStrictEqual(entry, ["stock/stock_shelves.create", inApi, null])
      }
      assert.deepStrictEqual(yield* shelves.insertMany([]), [])
    }).pipe(inDefault))

  it.effect("are inserted all or none: 409 for a value that is taken, 422 for a parent of another organization", () =>
    Effect.gen(function*() {
      const { boxes, shelves } = yield* at
      yield* shelves.insert({ code: "taken" })
      const refused = yield* Effect.flip(shelves.insertMany(named("free", "taken")))
      assert.strictEqual(refused._tag, "Conflict/RowTaken")
      assert.strictEqual(yield* shelves.count({ code: "free" }), 0)
      const own = yield* shelves.insert({ code: "own" })
      const foreign = yield* within("org_other")(shelves.insert({ code: "foreign" }))
      const both = [{ shelfId: own.id, place: 1 }, { shelfId: foreign.id, place: 1 }]
      assert.strictEqual((yield* Effect.flip(boxes.insertMany(both)))._tag, "ValidationFailed/ParentNotFound")
      assert.strictEqual(yield* boxes.count({ shelfId: own.id }), 0)
    }).pipe(inDefault))

  it.effect("inserted by eight at once in either order are made by one; the others are 409 and none is a deadlock", () =>
    Effect.gen(function*() {
      const { shelves, sql } = yield* at
      yield* sql`create function take_time() returns trigger language plpgsql as
        $$begin perform pg_sleep(0.005); return new; end$$`
      yield* sql`create trigger slow before insert on stock_shelves for each row execute function take_time()`
      const codes = Array.from({ length: 20 }, (_, n) => `many-${n}`)
      const all = yield* Effect.forEach(
        eight,
        (n) => Effect.exit(shelves.insertMany(named(...n % 2 === 0 ? codes : codes.toReversed()))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(all.filter(({ _tag }) => _tag === "Success").length, 1)
      assert.notInclude(JSON.stringify(all), "Die")
      yield* sql`drop function take_time cascade`
    }).pipe(inDefault))

  it.effect("that are missing are 404, and in another state 422 which says the state; nothing is changed", () =>
    Effect.gen(function*() {
      const { shelves } = yield* at
      const { id } = yield* shelves.insert({ code: "guarded" })
      const close = (which: Parameters<typeof shelves.get>[0]) =>
        shelves.update(which, { status: "closed" }, { status: "open" })
      assert.strictEqual((yield* Effect.flip(close(randomUUID())))._tag, "NotFound/Row")
      assert.strictEqual((yield* Effect.flip(within("org_other")(close(id))))._tag, "NotFound/Row")
      assert.strictEqual((yield* Effect.flip(close({ id, code: "another" })))._tag, "NotFound/Row")
      assert.strictEqual((yield* close({ id, code: "guarded" })).status, "closed")
      const refused = yield* Effect.flip(close(id))
      assert.strictEqual(refused._tag, "InvalidTransition")
      assert.include(refused.error.message, `status is "closed" and cannot become "closed"`)
      assert.strictEqual((yield* entriesOf(id)).length, 2)
      assert.strictEqual(yield* statementsOf(close(id)), 1, "one statement tells")
    }).pipe(inDefault))

  it.effect("changed by eight at once from one state are changed by one; the others are 422", () =>
    Effect.gen(function*() {
      const { shelves } = yield* at
      const { id } = yield* shelves.insert({ code: "raced" })
      const all = yield* Effect.forEach(
        eight,
        (n) =>
          shelves.update(id, { status: "closed", label: `by ${n}` }, { status: "open" }).pipe(
            Effect.match({ onFailure: ({ _tag }) => _tag, onSuccess: () => "changed" })
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(all.toSorted(), [...Array.from({ length: 7 }, () => "InvalidTransition"), "changed"])
    }).pipe(inDefault))

  it.effect("are changed many at once, those of the organization alone, each with its entry", () =>
    Effect.gen(function*() {
      const { shelves } = yield* at
      const made = yield* shelves.insertMany([...named("m1", "m2"), { code: "m3", capacity: 99 }])
      const foreign = yield* within("org_other")(shelves.insert({ code: "m1" }))
      const changed = yield* shelves.updateMany({ code: { in: ["m1", "m2", "m3"] }, capacity: 10 }, { label: "full" })
      assert.deepStrictEqual(changed.map(({ code, label }) => [code, label]).toSorted(), [["m1", "full"], [
        "m2",
        "full"
      ]])
      assert.strictEqual((yield* within("org_other")(shelves.get(foreign.id))).label, null)
      const entries = yield* Effect.forEach(made, ({ id }) => entriesOf(id))
      assert.deepStrictEqual(entries.map(({ length }) => length), [2, 2, 1])
      assert.deepStrictEqual(yield* shelves.updateMany({ code: "no such" }, { label: "x" }), [])
    }).pipe(inDefault))

  it.effect("are each changed to what they say in one statement, all or none, each with its entry", () =>
    Effect.gen(function*() {
      const { boxes, shelves } = yield* at
      const made = yield* shelves.insertMany([{ code: "e1", label: "one" }, { code: "e2", label: "two" }, {
        code: "e3"
      }])
      const [one, two, three] = made.map(({ id }) => id)
      assert.isDefined(one ?? two ?? three)
      const rows = [{ id: `${two}`.toUpperCase(), capacity: 2, label: null }, { id: `${one}`, capacity: 1 }]
      const changed = yield* shelves.updateEach(rows)
      assert.deepStrictEqual(changed.map(({ capacity, code, label }) => [code, capacity, label]), [
        ["e2", 2, null],
        ["e1", 1, "one"]
      ])
      const entries = yield* Effect.forEach(made, ({ id }) => entriesOf(id))
      assert.deepStrictEqual(entries.map(({ length }) => length), [2, 2, 1])
      assert.strictEqual(yield* statementsOf(shelves.updateEach(rows)), 1)
      const foreign = yield* within("org_other")(shelves.insert({ code: "e1" }))
      const refused = yield* Effect.all([
        Effect.flip(shelves.updateEach([{ id: `${one}`, capacity: 3 }, { id: foreign.id, capacity: 3 }])),
        Effect.flip(shelves.updateEach([{ id: `${one}`, capacity: 3 }, { id: `${two}`, capacity: 101 }])),
        Effect.flip(shelves.updateEach([{ id: `${one}`, capacity: 3 }, { id: `${two}`, code: "e3" }]))
      ])
      assert.deepStrictEqual(refused.map(({ _tag }) => _tag), [
        "NotFound/Row",
        "ValidationFailed/ConditionNotMet",
        "Conflict/RowTaken"
      ])
      assert.strictEqual((yield* shelves.get(`${one}`)).capacity, 1)
      const [box] = yield* boxes.insertMany([{ shelfId: `${one}`, place: 1 }])
      assert.strictEqual((yield* boxes.updateEach([{ id: `${box?.id}`, place: 2 }]))[0]?.place, 2)
      const moved = boxes.updateEach([{ id: `${box?.id}`, shelfId: `${two}` }])
      assert.include(String(yield* Effect.flip(Effect.sandbox(moved))), "another parent")
      assert.deepStrictEqual(yield* shelves.updateEach([]), [])
    }).pipe(inDefault))

  it.effect("that are listed with a lock are changed one transaction after the other", () =>
    Effect.gen(function*() {
      const { shelves, sql } = yield* at
      yield* shelves.insertMany([{ code: "l1", capacity: 0 }, { code: "l2", capacity: 0 }])
      const countUp = sql.withTransaction(Effect.gen(function*() {
        const rows = yield* shelves.list({ code: { in: ["l1", "l2"] } }, { order: ["createdAt"], lock: true })
        yield* shelves.updateEach(rows.map(({ capacity, id }) => ({ id, capacity: capacity + 1 })))
      }))
      yield* Effect.forEach(eight, () => countUp, { concurrency: "unbounded" })
      const counted = yield* shelves.list({ code: { in: ["l1", "l2"] } })
      assert.deepStrictEqual(counted.map(({ capacity }) => capacity), [8, 8])
    }).pipe(inDefault))

  it.effect("are inserted or changed by a unique, and what is not named stays", () =>
    Effect.gen(function*() {
      const { boxes, shelves } = yield* at
      const first = yield* shelves.upsert({ code: "u", label: "one", capacity: 1 }, ["code"])
      const second = yield* shelves.upsert({ code: "u", label: "two" }, ["code"])
      assert.deepStrictEqual([first.created, second.created], [true, false])
      assert.deepInclude(second.row, { id: first.row.id, label: "two", capacity: 1 })
      assert.deepStrictEqual((yield* entriesOf(first.row.id)).map(([type]) => type), [
        "stock/stock_shelves.create",
        "stock/stock_shelves.update"
      ])
      const box = { shelfId: first.row.id, place: 1 }
      yield* boxes.insert({ ...box, kind: "large" })
      assert.isTrue((yield* boxes.upsert(box, ["shelfId", "place"])).created, "a row that the unique does not count")
      assert.isFalse((yield* boxes.upsert(box, ["shelfId", "place"])).created)
      assert.strictEqual(yield* boxes.count(box), 2)
    }).pipe(inDefault))

  it.effect("upserted by eight at once are one row, and of another organization 409", () =>
    Effect.gen(function*() {
      const { shelves } = yield* at
      const all = yield* Effect.forEach(eight, (n) => shelves.upsert({ code: "eight", label: `${n}` }, ["code"]), {
        concurrency: "unbounded"
      })
      assert.strictEqual(all.filter(({ created }) => created).length, 1)
      assert.strictEqual(new Set(all.map(({ row }) => row.id)).size, 1)
      yield* within("org_other")(shelves.insert({ code: "x", barcode: "once" }))
      const refused = yield* Effect.flip(shelves.upsert({ code: "y", barcode: "once" }, ["barcode"]))
      assert.strictEqual(refused._tag, "Conflict/RowTaken")
      for (const on of [["label"], ["code", "label"]] as const) {
        assert.include(String(yield* Effect.flip(Effect.sandbox(shelves.upsert({ code: "z" }, on)))), "has no unique")
      }
      const unnamed = yield* Effect.flip(Effect.sandbox(shelves.upsert({ code: "z" }, ["barcode"])))
      assert.include(String(unnamed), "names barcode")
    }).pipe(inDefault))

  it.effect("keep a secret that no row, entry or filter shows and that opens for its row alone", () =>
    Effect.gen(function*() {
      const { shelves, sql } = yield* at
      const row = yield* shelves.insert({ code: "s", token: "hush-1" })
      const other = yield* shelves.insert({ code: "t" })
      assert.notProperty(row, "token")
      assert.strictEqual(String(yield* shelves.secret(row.id, "token")), "<redacted:stock_shelves.token>")
      assert.isNull(yield* shelves.secret(other.id, "token"))
      assert.strictEqual(
        (yield* Effect.flip(within("org_other")(shelves.secret(row.id, "token"))))._tag,
        "NotFound/Row"
      )
      yield* shelves.update(row.id, { token: "hush-2" })
      const entries = yield* entriesOf(row.id)
      assert.strictEqual(entries.length, 2, "its change has an entry")
      const stored = yield* sql`select token from stock_shelves where id = ${row.id}::uuid`
      assert.notInclude(JSON.stringify([entries, stored]), "hush")
      yield* sql`update stock_shelves set token = (select token from stock_shelves where id = ${row.id}::uuid)
        where id = ${other.id}::uuid`
      assert.include(String(yield* Effect.flip(Effect.sandbox(shelves.secret(other.id, "token")))), "opens with no key")
      const sent = { code: "s", token: "hush-3" }
      const writes = [Effect.asVoid(shelves.upsert(sent, ["code"])), Effect.asVoid(shelves.updateMany({}, sent))]
      for (const write of writes) {
        assert.include(String(yield* Effect.flip(Effect.sandbox(write))), "is a secret")
      }
    }).pipe(inDefault))
})
