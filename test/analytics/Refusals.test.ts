import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"
import { footprintOf } from "../tenancy/Footprint.ts"
import { ask, issuesOf } from "./Questions.ts"

const measures = ["Orders.count"]

const filtered = (...filters: ReadonlyArray<unknown>) => ({ measures, filters })

const by = (member: string, operator: unknown, ...values: ReadonlyArray<unknown>) =>
  filtered({ member: `Orders.${member}`, operator, values })

const nested = (depth: number): unknown =>
  depth === 0 ? { member: "Orders.status", operator: "set" } : { and: [nested(depth - 1)] }

const over = (timeDimension: object) => ({
  measures,
  timeDimensions: [{ dimension: "Orders.placedAt", ...timeDimension }]
})

/** A query that cannot be answered, and how the first issue of its refusal begins and goes on. */
const wrong: ReadonlyArray<readonly [query: unknown, path: string, message: RegExp]> = [
  [{}, "measures", /is required/],
  [{ measures: [] }, "measures", /at least one of .*Orders\.revenue/],
  [{ measures: "Orders.count" }, "measures", /an array/],
  [{ measures: ["Orders.total"] }, "measures.0", /must be a measure of Orders\.count, /],
  [{ measures: ["count"] }, "measures.0", /must be one of /],
  [{ measures: ["Nothing.count"] }, "measures.0", /must be one of /],
  [{ measures: ["Orders.constructor"] }, "measures.0", /must be a measure of/],
  [{ measures: ["Orders.status"] }, "measures.0", /must be a measure of/],
  [
    { measures: ["Orders.count", "Inventory.totalOnHand"] },
    "measures.1",
    /must be of Orders, because a query asks one model/
  ],
  [{ measures: Array.from({ length: 51 }, () => "Orders.count") }, "measures", /50/],
  [{ measures, dimensions: ["Orders.total"] }, "dimensions.0", /must be a dimension of Orders\.id, /],
  [{ measures, dimensions: ["Customers.createdAt"] }, "dimensions.0", /must be a dimension of /],
  [{ measures, dimensions: ["OrderLineItems.sku"] }, "dimensions.0", /must be a dimension of /],
  [{ measures, segments: ["Orders.big"] }, "segments.0", /must be a segment of none/],
  [
    { measures: ["Inventory.totalOnHand"], segments: ["lowStock"] },
    "segments.0",
    /must be a segment of Inventory\.lowStock/
  ],
  [over({ granularity: "minute" }), "timeDimensions.0.granularity", /must be one of hour, day, week, month, year/],
  [{ measures, timezone: "Europe/Nowhere" }, "timezone", /IANA name/],
  [{ measures, timezone: "CET" }, "timezone", /Europe\/Zurich/],
  [{ measures, timezone: "+01:00" }, "timezone", /IANA name/],
  [over({ dateRange: ["2026-12-01", "2026-11-01"] }), "timeDimensions.0.dateRange", /that is after the first one/],
  [over({ dimension: "Orders.status" }), "timeDimensions.0.dimension", /a dimension of time: Orders\.placedAt/],
  [over({ dateRange: "last decade" }), "timeDimensions.0.dateRange", /one of .*last N days.*all time/],
  [over({ dateRange: "last 0 days" }), "timeDimensions.0.dateRange", /two dates or one of/],
  [over({ dateRange: "last 1001 days" }), "timeDimensions.0.dateRange", /two dates or one of/],
  [over({ dateRange: "this day" }), "timeDimensions.0.dateRange", /two dates or one of/],
  [over({ dateRange: "Q5 2026" }), "timeDimensions.0.dateRange", /two dates or one of/],
  [over({ dateRange: "" }), "timeDimensions.0.dateRange", /two dates or one of/],
  [over({ dateRange: "2026-01-01" }), "timeDimensions.0.dateRange", /two dates or one of/],
  [over({ dateRange: ["2026-01-01"] }), "timeDimensions.0.dateRange", /must be two dates/],
  [over({ dateRange: ["2026-01-01", "2026-02-30"] }), "timeDimensions.0.dateRange", /must be two dates/],
  [over({ dateRange: ["2026-01-01", "2026-01-02", "2026-01-03"] }), "timeDimensions.0.dateRange", /must be two dates/],
  [over({ dateRange: 5 }), "timeDimensions.0.dateRange", /a string or an array/],
  [
    {
      measures,
      dimensions: ["Orders.placedAt"],
      timeDimensions: [{ dimension: "Orders.placedAt", granularity: "day" }]
    },
    "timeDimensions",
    /must not name "Orders\.placedAt" twice/
  ],
  [over({ granularty: "day" }), "timeDimensions.0.granularty", /is not known\. Known are dimension, gra/],
  [{ measures, filter: [] }, "filter", /is not known\. Known are measures, dimensions/],
  [{ measures, order: { "Orders.revenue": "asc" } }, "order.Orders.revenue", /in the result, which has Orders\.count/],
  [{ measures, order: { "Orders.count": "down" } }, "order.Orders.count", /asc or desc/],
  [{ measures, limit: "10" }, "limit", /a number/],
  [{ measures, limit: null }, "limit", /a number/],
  [by("total", "equals", "x"), "filters.0.member", /must be one of Orders\.id, /],
  [by("status", "like", "x"), "filters.0.operator", /must be one of equals, notEquals, contains/],
  [by("status", undefined, "x"), "filters.0.operator", /must be one of equals/],
  [by("status", "constructor", "x"), "filters.0.operator", /must be one of equals/],
  [by("status", "gt", "x"), "filters.0.operator", /gt does not apply to a member of type string/],
  [by("placedAt", "contains", "2026"), "filters.0.operator", /contains does not apply to a member of type time/],
  [by("revenue", "contains", "1"), "filters.0.operator", /contains does not apply to a member of type number/],
  [by("status", "equals"), "filters.0.values", /at least one value/],
  [filtered({ member: "Orders.status", operator: "equals" }), "filters.0.values", /at least one value/],
  [filtered({ member: "Orders.status", operator: "equals", values: "x" }), "filters.0.values", /a list/],
  [by("status", "equals", "x", 5), "filters.0.values.1", /must be a text/],
  [by("status", "equals", null), "filters.0.values.0", /must be a text/],
  [by("status", "set", "x"), "filters.0.values", /set takes no values/],
  [by("revenue", "gt", "many"), "filters.0.values.0", /must be a number/],
  [by("revenue", "gt", 1, 2), "filters.0.values", /exactly one value/],
  [by("placedAt", "afterDate", "soon"), "filters.0.values.0", /must be a date/],
  [by("placedAt", "beforeDate", "2026-02-30"), "filters.0.values.0", /must be a date/],
  [by("placedAt", "inDateRange", "2026-01-01"), "filters.0.values", /exactly two dates/],
  [filtered("Orders.status"), "filters.0", /must be \{ member, operator, values \}/],
  [filtered({ and: [], or: [] }), "filters.0", /must be \{ member/],
  [filtered({ and: [] }), "filters.0.and", /at least one filter/],
  [filtered({ or: {} }), "filters.0.or", /at least one filter/],
  [filtered({ and: [{ or: [by("a", "set")] }] }), "filters.0.and.0.or.0", /must be \{ member/],
  [
    filtered({ or: [{ member: "Orders.status", operator: "set" }, { member: "Orders.count", operator: "set" }] }),
    "filters.0",
    /about dimensions or about measures, not about both/
  ],
  [filtered(nested(11)), "filters.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and.0.and", /10 groups deep/],
  [filtered(...Array.from({ length: 201 }, () => nested(0))), "filters.200", /at most 200 filters/],
  [by("status", "in", ...Array.from({ length: 1001 }, () => "x")), "filters.0.values", /at most 1000 values/],
  [by("status", "equals", "a\0b"), "filters.0.values.0", /NUL/],
  [filtered(nested(150)), "filters.0", /levels deep/]
]

withApp("what cannot be answered", (it) => {
  it.effect("what cannot be answered is refused with its place and with what there is", () =>
    Effect.gen(function*() {
      const before = yield* footprintOf("org_default")
      for (const [query, path, message] of wrong) {
        const answer = yield* ask(query)
        refused(answer, 422, "VALIDATION_FAILED", JSON.stringify(query).slice(0, 200))
        const [first = ""] = issuesOf(answer)
        assert.isTrue(first.startsWith(`${path}: `), `${first} is not about ${path}`)
        assert.match(first.slice(path.length + 2), message)
      }
      refused(yield* api("POST", "/api/analytics/query", { as: asAdmin, body: "{" }), 400, "BAD_REQUEST")
      assert.deepStrictEqual(yield* footprintOf("org_default"), before)
    }))

  it.effect("reports all errors of a query at once", () =>
    Effect.gen(function*() {
      const answer = yield* ask({
        measures: ["Orders.count", "Orders.total"],
        dimensions: ["Orders.nothing"],
        filters: [{ member: "Orders.status", operator: "is", values: ["x"] }],
        order: { "Orders.status": "asc" }
      })
      assert.deepStrictEqual(
        issuesOf(answer).map((issue) => issue.split(":")[0]),
        ["measures.1", "dimensions.0", "filters.0.operator", "order.Orders.status"]
      )
    }))

  it.effect("as much as a tree of filters may hold is answered", () =>
    Effect.gen(function*() {
      for (
        const query of [
          filtered(nested(10)),
          filtered(...Array.from({ length: 200 }, () => nested(0))),
          by("status", "in", ...Array.from({ length: 1000 }, (_, n) => `s${n}`))
        ]
      ) assert.strictEqual((yield* ask(query)).status, 200)
    }))

  it.effect("nothing that is sent becomes a part of the statement", () =>
    Effect.gen(function*() {
      const before = yield* footprintOf("org_default")
      const attempts = [
        "' or '1'='1",
        "\"; drop table orders; --",
        "Orders.id\" from users --",
        "\\'; select pg_sleep(10); --",
        "Orders.count); select $1; --",
        "%"
      ]
      for (const text of attempts) {
        const places: ReadonlyArray<unknown> = [
          { measures: [text] },
          { measures: [`Orders.${text}`] },
          { measures, dimensions: [`Orders.${text}`] },
          { measures, segments: [text] },
          { measures, order: { [text]: "asc" } },
          { measures, order: { "Orders.count": text } },
          over({ granularity: text }),
          over({ granularity: `day', now()); --${text}` }),
          over({ dateRange: text }),
          over({ dateRange: [text, text] }),
          filtered({ member: text, operator: "equals", values: ["x"] }),
          filtered({ member: "Orders.status", operator: text, values: ["x"] }),
          filtered({ member: "Orders.placedAt", operator: "equals", values: [text] }),
          filtered({ member: "Orders.revenue", operator: "gt", values: [text] })
        ]
        for (const query of places) refused(yield* ask(query), 422, "VALIDATION_FAILED", JSON.stringify(query))
        for (const operator of ["equals", "contains", "in"]) {
          const answer = yield* ask(by("status", operator, text))
          assert.deepStrictEqual([answer.status, answer.at("data.rows")], [200, [{ "Orders.count": 0 }]], text)
        }
      }
      assert.deepStrictEqual(yield* footprintOf("org_default"), before)
    }))
})
