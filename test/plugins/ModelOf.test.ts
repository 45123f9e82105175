import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  amount,
  boolean,
  childOf,
  date,
  definePlugin,
  group,
  inputOf,
  json,
  modelOf,
  table,
  Text,
  text,
  uuid
} from "stoa/plugin"
import { flawsOf } from "../../src/plugins/kit/install/PluginRules.ts"
import { api, asAdmin, asCustomer, inOrganization, live, testAppLayer } from "../support/TestApp.ts"

const tips = table("tips_tips", {
  customerId: uuid.nullable,
  till: text,
  cents: amount,
  day: date,
  isCash: boolean.default(false),
  extra: json.nullable
})

const shares = childOf(tips, "tipId", "tips_shares", { tipId: uuid.references(tips), waiter: text, cents: amount })

const sharing = {
  id: "tips",
  version: "1.0.0",
  schema: () => [tips, shares],
  analyticsModels: () => {
    const { parent: _, ...model } = modelOf(shares, { name: "Shares" })
    return [model]
  }
}

const tipsPlugin = definePlugin({
  id: "tips",
  version: "1.0.0",
  permissions: [{ scope: "tips:write", description: "Note tips" }],
  schema: () => [tips, shares],
  routes: () => [
    group("Tips", "/tips").post("/", { permission: "tips:write", input: inputOf(tips), success: tips.Row })
      .handle(({ db, input }) => db.table(tips).insert(input)),
    group("Tips", "/tips").post("/:id/shares", {
      permission: "tips:write",
      input: Schema.Struct({ waiter: Text, cents: Schema.Int })
    }).handle(({ db, input, params }) => db.table(shares).insert({ tipId: params.id, ...input }))
  ],
  analyticsModels: () => [
    modelOf(tips, {
      name: "Tips",
      sums: ["cents"],
      dims: ["till", "day", "isCash", "customerId", "createdAt"],
      scope: { customer: "customerId" }
    }),
    modelOf(shares, { name: "Shares", sums: ["cents"], dims: ["waiter"] })
  ]
})

const ask = (body: object, as: object = asAdmin) => api("POST", "/api/analytics/query", { as, body })

layer(testAppLayer({ plugins: [tipsPlugin] }), live)(
  "a model of a table",
  (it) => {
    it.effect("counts and adds up by its dimensions, and shows customers what is theirs", () =>
      Effect.gen(function*() {
        const ann = asCustomer("ann")
        const profile = yield* api("GET", "/api/me/profile", { as: ann })
        for (
          const tip of [
            { till: "bar", cents: 150, day: "2026-01-31" },
            { till: "bar", cents: 250, day: "2026-02-01", isCash: true },
            { till: "door", cents: 7, day: "2026-02-28", customerId: profile.text("data.id") }
          ]
        ) assert.strictEqual((yield* api("POST", "/api/tips", { as: asAdmin, body: tip })).status, 201)
        const byTill = yield* ask({ measures: ["Tips.count", "Tips.cents"], dimensions: ["Tips.till"] })
        assert.sameDeepMembers([...byTill.list("data.rows")], [
          { "Tips.till": "bar", "Tips.count": 2, "Tips.cents": 400 },
          { "Tips.till": "door", "Tips.count": 1, "Tips.cents": 7 }
        ])
        const byMonth = yield* ask({
          measures: ["Tips.count"],
          timeDimensions: [{ dimension: "Tips.day", granularity: "month" }]
        })
        assert.sameMembers(byMonth.list("data.rows").map((row) => Reflect.get(Object(row), "Tips.count")), [1, 2])
        const own = yield* ask({ measures: ["Tips.cents"] }, ann)
        assert.deepStrictEqual(own.list("data.rows"), [{ "Tips.cents": 7 }])
      }))

    it.effect("of a child table reads the rows of its organization's parents", () =>
      Effect.gen(function*() {
        const tip = yield* api("POST", "/api/tips", { as: asAdmin, body: { till: "x", cents: 9, day: "2026-03-01" } })
        const path = `/api/tips/${tip.text("data.id")}/shares`
        for (const cents of [4, 5]) yield* api("POST", path, { as: asAdmin, body: { waiter: "kim", cents } })
        const question = { measures: ["Shares.count", "Shares.cents"], dimensions: ["Shares.waiter"] }
        const answer = yield* ask(question)
        assert.deepStrictEqual(answer.list("data.rows"), [
          { "Shares.waiter": "kim", "Shares.count": 2, "Shares.cents": 9 }
        ])
        const elsewhere = yield* ask(question, inOrganization("org_elsewhere", asAdmin))
        assert.deepStrictEqual(elsewhere.list("data.rows"), [])
      }))

    it.effect("of a child table needs its parent, and the start says so", () =>
      Effect.sync(() => {
        const core = { modules: [], permissions: [], events: [], roles: [] }
        assert.deepStrictEqual(flawsOf([definePlugin(sharing)], core), [
          `Plugin "tips": the analytics model "Shares" needs \`parent\`, because rows of "tips_shares" name no organization.`
        ])
      }))

    it.effect("is refused for columns that are no numbers, and none to group by", () =>
      Effect.sync(() => {
        assert.throws(() => modelOf(tips, { name: "Tips", sums: ["till"] }), `Model "Tips" cannot add up "till".`)
        assert.throws(() => modelOf(tips, { name: "Tips", dims: ["extra"] }), `cannot be grouped by "extra"`)
      }))
  }
)
