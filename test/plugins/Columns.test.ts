import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  date,
  decimal,
  definePlugin,
  fieldsOf,
  group,
  idOf,
  inputOf,
  integerBetween,
  list,
  oneOf,
  OrderId,
  PluginContext,
  secret,
  table,
  text,
  timeOfDay,
  timestamp
} from "stoa/plugin"
import { sampleRows } from "../../src/plugins/kit/testing/SampleRows.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { api, asAdmin, live, testAppLayer, testAppOn } from "../support/TestApp.ts"
import { pluginTables } from "./PluginTablesLayer.ts"

const shifts = table("roster_shifts", {
  day: date,
  opens: timeOfDay.default("09:30"),
  rate: decimal(6, 3),
  factor: decimal(4, 0).default("1"),
  channels: list(oneOf(["sms", "email"])).default(["email"]),
  holidays: list(date).nullable,
  days: list(integerBetween(0, 6)).default([]),
  orderIds: list(idOf(OrderId)).default([]),
  begins: timestamp.nullable,
  token: secret.nullable
}, { excluding: [{ columns: ["opens"], range: ["rate", "factor"] }] })

const routes = group("Roster", "/roster")
const roster = definePlugin({
  id: "roster",
  version: "1.0.0",
  schema: () => [shifts],
  routes: () => [
    routes.post("/shifts", { auth: true, input: inputOf(shifts), success: shifts.Row })
      .handle(({ db, input }) => db.table(shifts).insert(input)),
    routes.patch("/shifts/:id", {
      auth: true,
      input: inputOf(shifts, { required: ["day"], optional: ["rate", "holidays"] }),
      success: shifts.Row
    }).handle(({ db, input, params }) => db.table(shifts).update(params.id, input)),
    routes.list("/shifts", { auth: true, query: { channel: oneOf(["sms", "email"]).schema }, success: shifts.Row })
      .handle(({ db, page, query }) =>
        db.table(shifts).page({
          channels: { has: query.channel },
          day: { gte: "2026-01-31", lt: "2027-01-01" },
          opens: { gt: "08:00" },
          rate: { in: ["1.50"] },
          holidays: ["2026-12-24", "2026-12-25"]
        }, page)
      )
  ]
})

const add = (body: object) => api("POST", "/api/roster/shifts", { as: asAdmin, body })
const whole = {
  day: "2026-11-25",
  opens: "10:15",
  rate: "1.5",
  factor: "12",
  channels: ["sms", "email"],
  holidays: ["2026-12-24", "2026-12-25"],
  days: [0, 6],
  orderIds: ["7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11"],
  begins: "2026-11-25T10:15"
}

layer(testAppLayer({ plugins: [roster] }), live)("columns", (it) => {
  it.effect("have one form in answers and in the change log, and defaults", () =>
    Effect.gen(function*() {
      const made = yield* add({ ...whole, token: "hush" })
      assert.strictEqual(made.status, 201)
      const shown = { ...whole, rate: "1.500", begins: "2026-11-25T10:15:00.000Z" }
      assert.deepInclude(made.at("data"), shown)
      assert.notInclude(JSON.stringify(made.body), "token")
      const trail = yield* api("GET", `/api/audit/roster%2Froster_shifts/${made.text("data.id")}`, { as: asAdmin })
      assert.deepInclude(trail.at("data.0.payload"), shown)
      assert.deepStrictEqual(trail.at("data.0.payload"), made.at("data"))
      const short = yield* add({ day: "2026-01-01", rate: "-0.5" })
      assert.deepInclude(short.at("data"), {
        opens: "09:30",
        rate: "-0.500",
        factor: "1",
        channels: ["email"],
        holidays: null,
        days: [],
        begins: null
      })
    }))

  it.effect("are refused with 422 where a value is not of their kind", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<object> = [
        { day: "2026-02-29" },
        { day: "0000-01-01" },
        { day: "25.11.2026" },
        { opens: "24:00" },
        { opens: "9:30" },
        { rate: "1.5001" },
        { rate: "1000" },
        { rate: 1.5 },
        { factor: "1.5" },
        { factor: "NaN" },
        { channels: ["fax"] },
        { channels: "sms" },
        { holidays: ["2026-13-01"] },
        { days: [7] },
        { token: "" }
      ]
      for (const one of wrong) assert.strictEqual((yield* add({ ...whole, ...one })).status, 422, JSON.stringify(one))
    }))

  it.effect("are compared by filters", () =>
    Effect.gen(function*() {
      const { length } = (yield* api("GET", "/api/roster/shifts?channel=sms", { as: asAdmin })).list("data")
      const made = yield* add({ ...whole, opens: "11:00" })
      yield* add({ ...whole, channels: ["email"], opens: "12:00" })
      const found = yield* api("GET", "/api/roster/shifts?channel=sms", { as: asAdmin })
      assert.strictEqual(found.list("data").length, length + 1)
      assert.strictEqual(found.at("data.0.id"), made.at("data.id"))
    }))

  it.effect("make ranges of decimals that may not overlap", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* add({ ...whole, opens: "13:00", rate: "1", factor: "5" })).status, 201)
      assert.strictEqual((yield* add({ ...whole, opens: "13:00", rate: "4.999", factor: "9" })).status, 409)
      assert.strictEqual((yield* add({ ...whole, opens: "13:00", rate: "5", factor: "9" })).status, 201)
    }))

  it.effect("give a change what it may name, and nothing else", () =>
    Effect.gen(function*() {
      const made = yield* add({ ...whole, opens: "14:00" })
      const change = (body: object) => api("PATCH", `/api/roster/shifts/${made.text("data.id")}`, { as: asAdmin, body })
      assert.strictEqual((yield* change({ rate: "2" })).status, 422)
      const changed = yield* change({ day: "2026-05-01", holidays: null, opens: "15:00" })
      assert.deepInclude(changed.at("data"), { day: "2026-05-01", holidays: null, opens: "14:00", rate: "1.500" })
    }))

  it.effect("stand in the document with their form and an example", () =>
    Effect.gen(function*() {
      const document = JSON.stringify((yield* api("GET", "/api/doc")).body)
      for (const said of [`"format":"date"`, `"format":"decimal"`, `"format":"password"`]) {
        assert.include(document, said)
      }
      for (const example of ["2026-11-25", "09:30", "1.500"]) assert.include(document, `"${example}"`)
    }))
})

const everything = table("roster_everything", {
  word: oneOf(["b", "a"]),
  words: list(oneOf(["b", "a"])),
  day: date,
  opens: timeOfDay,
  rate: decimal(6, 3),
  token: secret
})

const sampled = definePlugin({ id: "roster", version: "1.0.0", schema: () => [everything] })

layer(pluginTables(sampled), live)("sample rows", (it) => {
  it.effect("fit columns of every kind", () =>
    Effect.gen(function*() {
      const { sql } = (yield* PluginContext).db
      const query = (text: string, values: ReadonlyArray<unknown> = []) =>
        Effect.runPromise(Effect.map(sql.unsafe(text, values), (rows) => rows.map((row) => ({ ...row }))))
      const made = yield* Effect.promise(() => sampleRows({ db: { query }, plugins: [sampled] }, "org_other", {}))
      assert.sameMembers([...made.keys()], ["roster_everything"])
    }))
})

describe("a column", () => {
  it("is refused where it cannot be", () => {
    assert.throws(() => list(secret), "cannot be a list")
    assert.throws(() => list(timestamp), "cannot be a list")
    assert.throws(() => secret.unique(), "has no default")
    const fields = Object.keys(fieldsOf(shifts))
    assert.includeMembers(fields, ["id", "organizationId", "day", "updatedAt"])
    assert.notInclude(fields, "token")
    assert.throws(() => inputOf(shifts, { required: [String("nothing") as "day"] }), "no column \"nothing\"")
  })

  const start = (url: string, tables: Parameters<typeof definePlugin>[0]["schema"], rest = {}) => {
    const plugin = definePlugin({ id: "roster", version: "1.0.0", ...tables === undefined ? {} : { schema: tables } })
    return Effect.exit(Effect.scoped(Layer.build(testAppOn(url, { plugins: [plugin] }, rest))))
  }

  it.live(
    "that another type has in the database ends the start with both types",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* freshDatabase
        const before = { amount: decimal(6, 3), words: list(text) }
        assert.strictEqual((yield* start(url, () => [table("roster_a", before)]))._tag, "Success")
        assert.strictEqual((yield* start(url, () => [table("roster_a", before)]))._tag, "Success")
        const wider = yield* start(url, () => [table("roster_a", { ...before, amount: decimal(8, 3) })])
        assert.include(String(wider), "is numeric(6, 3) and not numeric(8, 3)")
        const single = yield* start(url, () => [table("roster_a", { ...before, words: text })])
        assert.include(String(single), "is text[] and not text")
      }))
  )

  it.live(
    "of secrets ends the start of a deployment without a key for them",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* freshDatabase
        const started = yield* start(url, () => [table("roster_b", { token: secret })], {
          environment: "production",
          webhooks: { keyring: undefined, allowPrivate: true }
        })
        assert.include(String(started), `Set STOA_SECRETS_KEY: "roster_b" of plugin "roster" keeps secrets.`)
      }))
  )
})
