import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group, oneOf, table, Text, text, Time, timestamp } from "stoa/plugin"
import { api, asAdmin, inOrganization, live, testAppLayer } from "../support/TestApp.ts"

const bookings = table("courts_bookings", {
  court: text,
  startsAt: timestamp,
  endsAt: timestamp,
  status: oneOf(["booked", "cancelled"]).default("booked")
}, { excluding: [{ columns: ["court"], range: ["startsAt", "endsAt"], where: "status = 'booked'" }] })

const routes = group("Courts", "/courts")

const courts = definePlugin({
  id: "courts",
  version: "1.0.0",
  schema: () => [bookings],
  routes: () => [
    routes.post("/bookings", {
      auth: true,
      input: Schema.Struct({ court: Text, startsAt: Time, endsAt: Time }),
      success: bookings.Row
    }).handle(({ db, input }) => db.table(bookings).insert(input)),
    routes.post("/bookings/all", {
      auth: true,
      input: Schema.Array(Schema.Struct({ startsAt: Time, endsAt: Time })).check(Schema.isMaxLength(10)),
      success: Schema.Array(bookings.Row)
    }).handle(({ db, input }) =>
      db.transaction(Effect.forEach(input, (one) =>
        // Long enough for all others to have begun.
        Effect.tap(db.table(bookings).insert({ court: "black", ...one }), () =>
          Effect.orDie(db.sql`select pg_sleep(0.05)`))))
    ),
    routes.patch("/bookings/:id", {
      auth: true,
      input: Schema.Struct({
        startsAt: Schema.optional(Time),
        endsAt: Schema.optional(Time),
        status: Schema.optional(Schema.Literals(["booked", "cancelled"]))
      }),
      success: bookings.Row
    }).handle(({ db, input, params }) => db.table(bookings).update(params.id, input))
  ]
})

const at = (hour: number) => `2027-03-01T${String(hour).padStart(2, "0")}:00:00.000Z`
const hours = (from: number, to: number) => ({ startsAt: at(from), endsAt: at(to) })

const book = (court: string, from: number, to: number, as: object = asAdmin) =>
  api("POST", "/api/courts/bookings", { as, body: { court, ...hours(from, to) } })

const change = (id: string, body: object) => api("PATCH", `/api/courts/bookings/${id}`, { as: asAdmin, body })

const eight = [0, 1, 2, 3, 4, 5, 6, 7]
const seven = (status: number) => Array.from({ length: 7 }, () => status)

layer(testAppLayer({ plugins: [courts] }), live)("ranges", (it) => {
  it.effect("of eight overlapping bookings at once, one is made and the others are 409", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(eight, (n) => book("blue", 2 + n, 12), { concurrency: "unbounded" })
      assert.deepStrictEqual(all.map(({ status }) => status).sort(), [201, ...seven(409)])
      const refused = all.find(({ status }) => status === 409)
      assert.strictEqual(
        refused?.at("error.message"),
        "The range from startsAt to endsAt overlaps that of another record. Choose another one."
      )
    }))

  it.effect("of eight transactions that book the same two hours in either order, one is done and none is a deadlock", () =>
    Effect.gen(function*() {
      const both = [hours(14, 15), hours(16, 17)]
      const all = yield* Effect.forEach(
        eight,
        (n) => api("POST", "/api/courts/bookings/all", { as: asAdmin, body: n % 2 === 0 ? both : both.toReversed() }),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(all.map(({ status }) => status).sort(), [201, ...seven(409)])
    }))

  it.effect("that touch, of another court, of another organization or of rows that do not count may be the same", () =>
    Effect.gen(function*() {
      const first = yield* book("red", 8, 10)
      assert.strictEqual((yield* book("red", 10, 12)).status, 201)
      assert.strictEqual((yield* book("green", 8, 10)).status, 201)
      assert.notStrictEqual((yield* book("red", 8, 10, inOrganization("org_other", asAdmin))).status, 409)
      assert.strictEqual((yield* change(first.text("data.id"), { status: "cancelled" })).status, 200)
      assert.strictEqual((yield* book("red", 9, 10)).status, 201)
      assert.strictEqual((yield* change(first.text("data.id"), { status: "booked" })).status, 409)
    }))

  it.effect("of eight bookings that are moved to the same hours at once, one moves and the others are 409", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(eight, (n) => book("white", n, n + 1))
      const moved = yield* Effect.forEach(all, (one) => change(one.text("data.id"), hours(12, 14)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(moved.map(({ status }) => status).sort(), [200, ...seven(409)])
    }))
})
