import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { childOf, definePlugin, group, list, oneOf, table, Text, text, uuid } from "stoa/plugin"
import { flawsOf } from "../../src/plugins/kit/install/PluginRules.ts"
import { isUnbounded } from "../../src/plugins/kit/tables/PersonalTables.ts"
import { api, asAdmin, asCustomer, live, testAppLayer } from "../support/TestApp.ts"

const refusal = "You can hold three seats. Give one back first."
const bound = { per: "guest", rows: 3, where: "status = 'held'", except: "cinema:usher", refusal } as const

const seats = table("cinema_seats", {
  guest: text.nullable,
  seat: text,
  status: oneOf(["held", "free"]).default("held")
}, { unique: [{ columns: ["seat"] }], indexes: [{ columns: ["guest"] }], atMost: [bound] })

const routes = group("Cinema", "/cinema")
const Seat = Schema.Struct({ guest: Schema.NullOr(Text), seat: Text })

const cinema = definePlugin({
  id: "cinema",
  version: "1.0.0",
  permissions: [{ scope: "cinema:usher", description: "Seat everyone" }],
  schema: () => [seats],
  routes: () => [
    routes.post("/seats", { auth: true, input: Seat, success: seats.Row })
      .handle(({ db, input }) =>
        // Long enough for all others to have begun.
        db.transaction(Effect.tap(db.table(seats).insert(input), Effect.orDie(db.sql`select pg_sleep(0.05)`)))
      ),
    routes.post("/rows", {
      auth: true,
      input: Schema.Array(Seat).check(Schema.isMaxLength(10)),
      success: Schema.Array(seats.Row)
    }).handle(({ db, input }) => db.table(seats).insertMany(input)),
    routes.put("/seats", { auth: true, input: Seat, success: seats.Row })
      .handle(({ db, input }) => Effect.map(db.table(seats).upsert(input, ["seat"]), ({ row }) => row)),
    routes.post("/seats/:id/free", { auth: true, success: seats.Row })
      .handle(({ db, params }) => db.table(seats).update(params.id, { status: "free" }))
  ]
})

const visitor = asCustomer("user-guest")
let made = 0
const aSeat = (guest: string | null) => ({ guest, seat: `seat ${++made}` })
const send = (method: "POST" | "PUT", path: string, body: unknown, as: object = visitor) =>
  api(method, `/api/cinema${path}`, { as, body })
const take = (guest: string | null, as: object = visitor) => send("POST", "/seats", aSeat(guest), as)

layer(testAppLayer({ plugins: [cinema] }), live)("a bound of a table", (it) => {
  it.effect("is kept by twelve inserts at once, for each value by itself", () =>
    Effect.gen(function*() {
      const guests = Array.from({ length: 12 }, (_, n) => n % 2 === 0 ? "ann" : "bob")
      const answers = yield* Effect.forEach(guests, (guest) => take(guest), { concurrency: "unbounded" })
      const taken = answers.flatMap((answer, n) => answer.status === 201 ? [guests[n]] : [])
      assert.deepStrictEqual(taken.toSorted(), ["ann", "ann", "ann", "bob", "bob", "bob"])
      const refused = answers.filter(({ status }) => status !== 201)
      for (const answer of refused) {
        assert.deepStrictEqual([answer.status, answer.at("error.message")], [409, refusal])
      }
    }))

  it.effect("counts only the rows that it is about", () =>
    Effect.gen(function*() {
      const first = yield* take("cleo")
      for (const _ of [1, 2]) assert.strictEqual((yield* take("cleo")).status, 201)
      assert.strictEqual((yield* take("cleo")).status, 409)
      yield* send("POST", `/seats/${first.text("data.id")}/free`, undefined)
      assert.strictEqual((yield* take("cleo")).status, 201)
    }))

  it.effect("refuses several rows that exceed it together, and writes none of them", () =>
    Effect.gen(function*() {
      const four = Array.from({ length: 4 }, () => aSeat("dora"))
      assert.strictEqual((yield* send("POST", "/rows", [...four, aSeat("emil")])).status, 409)
      assert.strictEqual((yield* send("POST", "/rows", [...four.slice(1), aSeat("emil")])).status, 201)
    }))

  it.effect("refuses a new row of an upsert, and lets one that is there change", () =>
    Effect.gen(function*() {
      const seat = aSeat("fay")
      for (const one of [seat, aSeat("fay"), aSeat("fay"), seat]) {
        assert.strictEqual((yield* send("PUT", "/seats", one)).status, 200)
      }
      const refused = yield* send("PUT", "/seats", aSeat("fay"))
      assert.deepStrictEqual([refused.status, refused.at("error.message")], [409, refusal])
    }))

  it.effect("binds neither who holds the permission nor rows without a value", () =>
    Effect.gen(function*() {
      for (const _ of [1, 2, 3, 4]) {
        assert.strictEqual((yield* take("gus", asAdmin)).status, 201)
        assert.strictEqual((yield* take(null)).status, 201)
      }
      assert.strictEqual((yield* take("gus")).status, 409)
    }))
})

describe("the rules of bounds", () => {
  const columns = { guest: text, names: list(text) }

  it("refuse a table that cannot keep one", () => {
    const broken = (part: object, sentence: RegExp) =>
      assert.throws(() => table("cinema_bad", columns, { atMost: [{ ...bound, ...part }] }), sentence)
    broken({ rows: 0 }, /must be a whole number above 0/)
    broken({ rows: 1.5 }, /must be a whole number above 0/)
    broken({ per: "nothing" }, /"nothing" is no column/)
    broken({ per: "names" }, /"names" is no column/)
    broken({ refusal: " " }, /the sentence that a caller reads/)
    assert.throws(
      () =>
        childOf(seats, "seatId", "cinema_child", { seatId: uuid.references(seats), guest: text }, { atMost: [bound] }),
      /give them to its parent/
    )
  })

  it("refuse a column that every insert would search the table for", () => {
    const plain = definePlugin({
      id: "plain",
      version: "1.0.0",
      schema: () => [table("plain_seats", { guest: text }, { atMost: [{ ...bound, where: "true" }] })]
    })
    assert.deepStrictEqual(flawsOf([plain], { modules: [], permissions: [], events: [], roles: [] }), [
      `Plugin "plain": table "plain_seats" has a bound per "guest": make that the first column of an index.`
    ])
  })

  it("ask each table about customers how many rows one may have", () => {
    const about = (options: object) => table("plain_letters", { login: text, body: text }, options)
    const personal = { of: { user: "login" }, onErase: "delete" }
    assert.isTrue(isUnbounded(about({ personal })))
    assert.isFalse(isUnbounded(about({ personal, atMost: { unbounded: "Staff writes them." } })))
    assert.isFalse(isUnbounded(about({})))
  })
})
