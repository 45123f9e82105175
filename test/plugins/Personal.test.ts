import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  childOf,
  CustomerId,
  definePlugin,
  idOf,
  json,
  longText,
  oneOf,
  OrderId,
  secret,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { buildersOf, contractOf, createPluginTestApp, type PluginTestApp } from "stoa/plugin/testing"
import { flawsOf } from "../../src/plugins/kit/install/PluginRules.ts"
import { waitFor } from "../support/waitFor.ts"

const fittings = table("tailor_fittings", {
  customerId: idOf(CustomerId).existing("customer"),
  name: text,
  email: text.nullable,
  notes: longText.default("none"),
  sizes: json.default({}),
  state: oneOf(["open", "done"]).default("open"),
  visitedAt: timestamp.nullable,
  pickupToken: text.default("none"),
  tip: secret.nullable
}, {
  personal: {
    of: "customerId",
    onErase: ["name", "email", "notes", "sizes", "pickupToken"],
    withholds: ["pickupToken"],
    keepDays: 30,
    since: "visitedAt"
  },
  atMost: { unbounded: "Staff writes them." }
})
const remarks = childOf(fittings, "fittingId", "tailor_remarks", { fittingId: uuid.references(fittings), body: text }, {
  personal: { onErase: "delete" }
})
/** About the customer of their fitting, and no child of it. */
const bills = table("tailor_bills", { fittingId: uuid.references(fittings), reference: text.nullable }, {
  personal: { of: "fittingId", onErase: ["reference"] }
})
const letters = table(
  "tailor_letters",
  { login: text, body: longText, status: oneOf(["new", "sent"]).default("new") },
  {
    personal: { of: { user: "login" }, onErase: "delete", keepDays: 7 },
    atMost: { unbounded: "Staff writes them." }
  }
)
/** Goes with its letter. */
const pages = childOf(letters, "letterId", "tailor_pages", { letterId: uuid.references(letters), body: text })
const parcels = table("tailor_parcels", { orderId: idOf(OrderId), label: text.nullable }, {
  personal: { of: "orderId", onErase: ["label"] }
})
/** Kept, and exported with its child, which says nothing. */
const books = table("tailor_books", { reader: text, title: text }, {
  personal: { exempt: "Books are kept by law.", of: { user: "reader" } },
  atMost: { unbounded: "Staff lends them." }
})
const stamps = childOf(books, "bookId", "tailor_stamps", { bookId: uuid.references(books), body: text })

const tailor = definePlugin({
  id: "tailor",
  version: "1.0.0",
  events: ["fitting.done"],
  schema: () => [fittings, remarks, bills, letters, pages, parcels, books, stamps]
})

/** Keeps a text, and says nothing of another table that names customers. */
const forgetful = definePlugin({
  id: "forgetful",
  version: "1.0.0",
  schema: () => [
    table("forgetful_notes", { customerId: idOf(CustomerId), body: text, author: text.nullable }, {
      personal: { of: "customerId", onErase: ["author"] }
    }),
    table("forgetful_visits", { customerId: idOf(CustomerId) }),
    table("forgetful_books", { customerId: idOf(CustomerId) }, {
      personal: { exempt: "Books are kept by law." },
      atMost: { unbounded: "Staff lends them." }
    })
  ]
})

const failing = async (app: PluginTestApp) => {
  const failed: Array<string> = []
  for (const { name, run } of contractOf(app)) {
    await run().catch((error: unknown) => failed.push(`${name}: ${String(error)}`))
  }
  return failed
}

describe("tables with personal data", () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(tailor, { postgres: inject("postgres") })
  })
  afterAll(() => app.close())

  const entriesWith = (word: string) =>
    app.db.query("select type from outbox_events where concat(payload, before) like $1", [`%${word}%`])

  it("leave no text of an erased customer in rows and in the change log", async () => {
    assert.deepStrictEqual(await failing(app), [])
  })

  it("keep rows of other customers, and what is not personal", async () => {
    const { db, serviceRegistry: { run }, tables } = app
    const other = await run(Effect.gen(function*() {
      const { id } = yield* tables.table(letters).insert({ login: "other", body: "stays-here" })
      yield* tables.table(pages).insert({ letterId: id, body: "stays-too" })
      return id
    }))
    assert.deepStrictEqual(await failing(app), [])
    const [row] = await db.query("select body from tailor_letters where id = $1", [other])
    assert.strictEqual(row?.["body"], "stays-here")
    assert.strictEqual((await entriesWith("stays-too")).length, 1)
  })

  it("lose old rows and texts each day, with their entries, and keep younger ones", async () => {
    const { db, serviceRegistry: { enqueue, run }, tables } = app
    const customerId = CustomerId.make(await buildersOf(app).customer())
    const day = 86_400_000
    const made = await run(Effect.gen(function*() {
      const { id: old } = yield* tables.table(letters).insert({ login: "x", body: "agedletter" })
      yield* tables.table(pages).insert({ letterId: old, body: "agedpage" })
      const { id: young } = yield* tables.table(letters).insert({ login: "x", body: "youngletter" })
      const visit = (name: string, days: number) =>
        tables.table(fittings).insert({
          customerId,
          name,
          sizes: { arm: name },
          visitedAt: new Date(app.clock.now() - days * day)
        })
      const fitted = yield* visit("agedname", 31)
      yield* tables.table(fittings).update(fitted.id, { state: "done" })
      yield* visit("youngname", 29)
      return { old, young, fitted: fitted.id }
    }))
    await db.query("update tailor_letters set created_at = now() - interval '8 days' where id = $1", [made.old])
    await enqueue("tailor/personal-data", {})
    await waitFor("the texts of the old fitting are blanked", async () => {
      const rows = await db.query("select 1 from tailor_fittings where id = $1 and name = ''", [made.fitted])
      return rows.length === 1
    })
    assert.deepStrictEqual(await db.query("select 1 from tailor_letters where id = $1", [made.old]), [])
    const [row] = await db.query("select name, notes, sizes, state from tailor_fittings where id = $1", [made.fitted])
    assert.deepStrictEqual(row, { name: "", notes: "none", sizes: {}, state: "done" })
    for (const gone of ["agedletter", "agedpage", "agedname"]) {
      assert.deepStrictEqual(await entriesWith(gone), [], gone)
    }
    assert.strictEqual((await entriesWith("youngletter")).length, 1)
    assert.strictEqual((await entriesWith("youngname")).length, 1)
    assert.strictEqual((await db.query("select 1 from tailor_letters where id = $1", [made.young])).length, 1)
  })
})

describe("the checks of every plugin", () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(forgetful, { postgres: inject("postgres") })
  })
  afterAll(() => app.close())

  it("name a text that stays after an erasure, and a table that says nothing of it", async () => {
    const failed = await failing(app)
    assert.strictEqual(failed.length, 3)
    assert.match(failed[0] ?? "", /how many rows one may have[^]*forgetful_notes[^]*forgetful_visits/)
    assert.match(failed[1] ?? "", /every table that names a customer[^]*forgetful_visits\.customerId/)
    for (const one of failed) assert.notMatch(one, /forgetful_books/)
    assert.match(failed[2] ?? "", /no table and no entry[^]*forgetful_notes[^]*change log, forgetful\/forgetful_notes/)
  })
})

describe("a declaration of personal data", () => {
  it("is refused where it is written when it cannot be carried out", () => {
    const names = { customerId: idOf(CustomerId), login: text, when: text, name: text.unique() }
    assert.throws(
      () => table("wrong_a", names, { personal: { of: "when", onErase: ["login"] } }),
      /"wrong_a": column "when" names neither a customer nor an order/
    )
    assert.throws(
      () => table("wrong_b", names, { personal: { of: "customerId", onErase: ["name"] } }),
      /"wrong_b": column "name" cannot be blanked/
    )
    assert.throws(() => table("wrong_c", names, { personal: { onErase: "delete" } }), /needs `of`/)
    assert.throws(
      () => table("wrong_f", { login: text, body: text }, { personal: { exempt: "Kept by law." } }),
      /"wrong_f": `personal` needs `of`/
    )
    assert.throws(
      () =>
        table("wrong_g", { customerId: idOf(CustomerId), helperId: idOf(CustomerId) }, {
          personal: { exempt: "Kept." }
        }),
      /"wrong_g": `personal` needs `of`/
    )
    assert.throws(
      () => table("wrong_h", { ...names, codeDigest: text }, { personal: { of: "customerId", onErase: "delete" } }),
      /"wrong_h": column "codeDigest" must be a `secret`, or stand in `withholds`/
    )
    assert.throws(
      () =>
        table("wrong_i", { customerId: idOf(CustomerId), body: text }, {
          personal: { of: "customerId", onErase: "delete", withholds: ["body"] }
        }),
      /"wrong_i": `withholds` leaves nothing to export/
    )
    assert.throws(
      () => table("wrong_d", names, { personal: { of: "customerId", onErase: "delete", since: "when" } }),
      /"when" is no column of a time/
    )
    assert.throws(
      () => table("wrong_e", names, { personal: { of: "customerId", onErase: "delete", keepDays: 0 } }),
      /keepDays/
    )
  })

  it("ends the start when another row would keep one from being deleted", () => {
    const core = { modules: [], permissions: [], events: [], roles: [] }
    const head = table("held_heads", { customerId: idOf(CustomerId) }, {
      personal: { of: "customerId", onErase: "delete" }
    })
    const holding = table("held_rows", { headId: uuid.references(head, "restrict") })
    const plugin = definePlugin({ id: "held", version: "1.0.0", schema: () => [head, holding] })
    assert.match(
      flawsOf([plugin], core)[0] ?? "",
      /"headId" of table "held_rows" refers to "held_heads" with "restrict"/
    )
  })

  it("ends the start when rows are about the customer of rows that name none", () => {
    const core = { modules: [], permissions: [], events: [], roles: [] }
    const shelf = table("idle_shelves", { label: text })
    const note = table("idle_notes", { shelfId: uuid.references(shelf), body: text.nullable }, {
      personal: { of: "shelfId", onErase: ["body"] }
    })
    const plugin = definePlugin({ id: "idle", version: "1.0.0", schema: () => [shelf, note] })
    assert.match(flawsOf([plugin], core)[0] ?? "", /"idle_notes" is personal by "shelfId", but rows of "idle_shelves"/)
  })
})
