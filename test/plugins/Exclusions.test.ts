import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group, oneOf, table, text, Time, timestamp } from "stoa/plugin"
import { api, asAdmin, inOrganization, testAppLayer } from "../support/TestApp.ts"

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
      input: Schema.Struct({ court: Schema.String, startsAt: Time, endsAt: Time }),
      success: bookings.Row
    }).handle(({ db, input }) => db.table(bookings).insert(input)),
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

layer(testAppLayer({ plugins: [courts] }), { excludeTestServices: true, timeout: "60 seconds" })("ranges", (it) => {
  it.effect("of eight overlapping bookings at once, one is made and the others are 409 at once", () =>
    Effect.gen(function*() {
      const began = performance.now()
      const all = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], (n) => book("blue", 2 + n, 12), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(all.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)])
      const refused = all.find(({ status }) => status === 409)
      assert.strictEqual(refused?.at("error.message"), "courts_bookings has a row that overlaps this one.")
      assert.isBelow(performance.now() - began, 900, "none waited for the end of a deadlock")
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

  it.effect("two bookings that are moved to the same hours at once: one moves, the other stays", () =>
    Effect.gen(function*() {
      const both = yield* Effect.all([book("white", 1, 2), book("white", 3, 4)])
      const moved = yield* Effect.forEach(both, (one) => change(one.text("data.id"), hours(6, 7)), { concurrency: 2 })
      assert.deepStrictEqual(moved.map(({ status }) => status).sort(), [200, 409])
    }))
})
