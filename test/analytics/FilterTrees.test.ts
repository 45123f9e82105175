import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AnalyticsRepo, AnalyticsSettings, defaultAnalytics } from "../../src/domain/analytics/AnalyticsRepo.ts"
import { planOf } from "../../src/domain/analytics/QueryPlan.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import type { AnalyticsModel } from "../../src/domain/platform/modules/AnalyticsModel.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** Orders with a dimension of every type, some of them without a value. */
const model: AnalyticsModel = {
  name: "Things",
  table: "orders",
  measures: {
    count: { type: "count" },
    sum: { type: "sum", sql: "orders.grand_total" },
    mails: { type: "countDistinct", sql: "orders.email" },
    drafts: { type: "count", filter: "orders.is_draft" },
    least: { type: "min", sql: "orders.amount_captured" },
    most: { type: "max", sql: "orders.amount_captured" },
    mean: { type: "avg", sql: "orders.amount_captured", decimals: 2 }
  },
  dimensions: {
    id: { sql: "orders.id", type: "string" },
    status: { sql: "orders.status", type: "string" },
    email: { sql: "orders.email", type: "string" },
    total: { sql: "orders.grand_total", type: "number" },
    captured: { sql: "orders.amount_captured", type: "number" },
    draft: { sql: "orders.is_draft", type: "boolean" },
    placedAt: { sql: "orders.placed_at", type: "time" },
    fulfilledAt: { sql: "orders.fulfilled_at", type: "time" }
  }
}
interface Thing {
  readonly id: string
  readonly status: string
  readonly email: string | null
  readonly total: number
  readonly captured: number | null
  readonly draft: boolean
  readonly placedAt: Date
  readonly fulfilledAt: Date | null
}

const statuses = ["pending", "confirmed", "cancelled"]
const mails = ["ann@home.example", "Bob@home.example", "100%_\\@x", null]
const day = (n: number, hour = 0) => new Date(Date.UTC(2026, 0, 1 + n, hour))

/** Forty things in which every combination that matters is there once or more. */
const things: ReadonlyArray<Thing> = Array.from({ length: 40 }, (_, n) => ({
  id: newId(),
  status: statuses[n % 3] ?? "",
  email: mails[n % 4] ?? null,
  total: n % 5,
  captured: n % 7 === 0 ? null : n % 5,
  draft: n % 2 === 0,
  placedAt: day(20 + n % 14, n % 3 === 0 ? 0 : n % 24),
  fulfilledAt: n % 3 === 0 ? null : day(n % 6, 12)
}))

const insertInto = (organization: string, list: ReadonlyArray<Thing>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total, shipping_total,
        discount_total, grand_total, amount_captured, email, is_draft, placed_at, fulfilled_at)
      select id, ${organization}, id::text, status, 'USD', total, 0, 0, 0, total, captured, email, draft, placed, done
      from unnest(${list.map(({ id }) => id)}::text[]::uuid[], ${list.map(({ status }) => status)}::text[],
        ${list.map(({ total }) => String(total))}::text[]::bigint[],
        ${list.map(({ captured }) => captured === null ? null : String(captured))}::text[]::bigint[],
        ${list.map(({ email }) => email)}::text[], ${list.map(({ draft }) => String(draft))}::text[]::boolean[],
        ${list.map(({ placedAt }) => placedAt.toISOString())}::text[]::timestamptz[],
        ${list.map(({ fulfilledAt }) => fulfilledAt?.toISOString() ?? null)}::text[]::timestamptz[])
        as x(id, status, total, captured, email, draft, placed, done)`
  )

const seeded = Layer.effectDiscard(Effect.gen(function*() {
  yield* insertInto("org_default", things)
  // What another store has looks the same.
  yield* insertInto("org_other", things.map((thing) => ({ ...thing, id: newId() })))
}))

const layers = Layer.merge(AnalyticsRepo.layer, seeded).pipe(
  Layer.provideMerge(Layer.merge(TestDatabase, AnalyticsSettings.layerOf(defaultAnalytics)))
)

const listOf = (values: ReadonlyArray<string | number | boolean>) =>
  Schema.NonEmptyArray(Schema.Literals(values)).check(Schema.isMaxLength(3))

const leaf = (
  names: ReadonlyArray<keyof Thing>,
  operators: ReadonlyArray<string>,
  values: ReadonlyArray<string | number | boolean>
) =>
  Schema.Struct({
    member: Schema.Literals(names.map((name) => `Things.${name}`)),
    operator: Schema.Literals(operators),
    values: listOf(values)
  })

const one = (
  names: ReadonlyArray<keyof Thing>,
  operators: ReadonlyArray<string>,
  values: ReadonlyArray<string | number>
) =>
  Schema.Struct({
    member: Schema.Literals(names.map((name) => `Things.${name}`)),
    operator: Schema.Literals(operators),
    values: Schema.Tuple([Schema.Literals(values)])
  })

const texts = [...statuses, "ann@home.example", "bob@home.example", "100%_\\@x", "nothing", ""]
const parts = ["ann", "HOME", "%", "_", "\\", "pend", "e", ""]
const numbers = [0, 1, 2, 4, 2.5, "3", "-1", "1.0"]
const times = ["2026-01-01", "2026-01-03T12:00:00Z", "2026-01-22", "2026-01-25T01:00:00Z", "2026-02-01T05:00:00+05:00"]
const Leaf = Schema.Union([
  leaf(["status", "email"], ["equals", "notEquals", "in", "notIn"], texts),
  leaf(["status", "email"], ["contains"], parts),
  leaf(["total", "captured"], ["equals", "notEquals", "in", "notIn"], numbers),
  one(["total", "captured"], ["gt", "gte", "lt", "lte"], numbers),
  leaf(["draft"], ["equals", "notEquals"], [true, false, "true", "false"]),
  leaf(["placedAt", "fulfilledAt"], ["equals", "notEquals"], times),
  one(["placedAt", "fulfilledAt"], ["beforeDate", "afterDate"], times),
  Schema.Struct({
    member: Schema.Literals(["Things.placedAt", "Things.fulfilledAt"]),
    operator: Schema.Literal("inDateRange"),
    values: Schema.Tuple([Schema.Literals(times.slice(0, 3)), Schema.Literals(times.slice(2))])
  }),
  Schema.Struct({
    member: Schema.Literals(["Things.email", "Things.captured", "Things.draft", "Things.fulfilledAt"]),
    operator: Schema.Literals(["set", "notSet"])
  })
])

type Tree = typeof Leaf.Type | { readonly and: ReadonlyArray<Tree> } | { readonly or: ReadonlyArray<Tree> }

/** Groups of what is one level lower. */
const above = (lower: Schema.Codec<Tree>): Schema.Codec<Tree> => {
  const list = Schema.NonEmptyArray(lower).check(Schema.isMaxLength(3))
  return Schema.Union([Leaf, Schema.Struct({ and: list }), Schema.Struct({ or: list })])
}

const Filters = Schema.Array(above(above(above(Leaf)))).check(Schema.isMaxLength(2))

const moment = (text: unknown) => new Date(String(text)).getTime()
const isDay = (text: unknown) => String(text).length === 10

/** Whether a thing fulfils one filter, by plain comparisons of JavaScript. */
const fulfils = (thing: Thing, { member, operator, ...rest }: typeof Leaf.Type): boolean => {
  const values: ReadonlyArray<unknown> = "values" in rest ? rest.values : []
  const value = Object(thing)[member.slice("Things.".length)] as Thing[keyof Thing]
  if (operator === "set" || operator === "notSet") return (value === null) === (operator === "notSet")
  const same = (sent: unknown) =>
    value instanceof Date
      ? value.getTime() === moment(sent)
      : typeof value === "number"
      ? value === Number(sent)
      : String(value) === String(sent)
  if (operator === "equals" || operator === "in") return value !== null && values.some(same)
  if (operator === "notEquals" || operator === "notIn") return value === null || !values.some(same)
  if (value === null) return false
  if (operator === "contains") {
    return values.some((sent) => String(value).toLowerCase().includes(String(sent).toLowerCase()))
  }
  const [first, second] = values
  if (value instanceof Date) {
    const at = value.getTime()
    if (operator === "beforeDate") return at <= moment(first)
    if (operator === "afterDate") return at >= moment(first)
    return at >= moment(first) && (isDay(second) ? at < moment(second) + 86_400_000 : at <= moment(second))
  }
  const [left, right] = [Number(value), Number(first)]
  return { gt: left > right, gte: left >= right, lt: left < right, lte: left <= right }[operator as "gt"]
}

const holds = (thing: Thing, tree: Tree): boolean =>
  "and" in tree
    ? tree.and.every((lower) => holds(thing, lower))
    : "or" in tree
    ? tree.or.some((lower) => holds(thing, lower))
    : fulfils(thing, tree)

const rowsOf = Effect.fnUntraced(function*(query: Parameters<typeof planOf>[0]) {
  const plan = yield* Effect.orDie(
    Effect.fromResult(
      planOf({ limit: 1000, ...query }, [model], { now: new Date(), zone: DateTime.zoneMakeNamedUnsafe("UTC") })
    )
  )
  const reach = { organizationId: "org_default", rules: [], vendorId: null, customerId: null }
  return yield* Effect.orDie(Effect.flatMap(AnalyticsRepo, (repo) => repo.rows(plan, reach)))
})

const groupsOf = (chosen: ReadonlyArray<Thing>) => {
  const keyOf = ({ placedAt, status }: Thing) => `${placedAt.toISOString().slice(0, 7)} ${status}`
  return [...new Set(chosen.map(keyOf))].toSorted().map((key) => {
    const group = chosen.filter((thing) => keyOf(thing) === key)
    const amounts = group.flatMap(({ captured }) => captured === null ? [] : [captured])
    const total = (list: ReadonlyArray<number>) => list.reduce((all, amount) => all + amount, 0)
    return {
      "Things.status": group[0]?.status ?? null,
      "Things.placedAt": key.slice(0, 7),
      "Things.count": group.length,
      "Things.sum": total(group.map((thing) => thing.total)),
      "Things.mails": new Set(group.flatMap(({ email }) => email ?? [])).size,
      "Things.drafts": group.filter(({ draft }) => draft).length,
      "Things.least": amounts.length === 0 ? null : Math.min(...amounts),
      "Things.most": amounts.length === 0 ? null : Math.max(...amounts),
      "Things.mean": amounts.length === 0 ? 0 : Math.round(total(amounts) / amounts.length * 100) / 100
    }
  })
}

it.layer(layers, { excludeTestServices: true })("any tree of filters", (it) => {
  it.effect.prop(
    "finds what a plain evaluation of the same rows finds",
    { filters: Filters },
    ({ filters }) =>
      Effect.gen(function*() {
        const chosen = things.filter((thing) => filters.every((tree) => holds(thing, tree)))
        const found = yield* rowsOf({ measures: ["Things.count"], dimensions: ["Things.id"], filters })
        assert.deepStrictEqual(
          found.map((row) => row["Things.id"]),
          chosen.map(({ id }) => id).toSorted()
        )
      }),
    { arbitrary: { runs: 250 }, timeout: 60_000 }
  )

  it.effect.prop("adds up what a plain evaluation adds up, group by group", {
    filters: Filters,
    most: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))
  }, ({ filters, most }) =>
    Effect.gen(function*() {
      const groups = groupsOf(things.filter((thing) => filters.every((tree) => holds(thing, tree))))
      const query = {
        measures: Object.keys(model.measures).map((name) => `Things.${name}`),
        dimensions: ["Things.status"],
        timeDimensions: [{ dimension: "Things.placedAt", granularity: "month" }]
      }
      assert.deepEqual(yield* rowsOf({ ...query, filters }), groups)
      const small = { member: "Things.sum", operator: "lte", values: [most] }
      assert.deepEqual(
        yield* rowsOf({ ...query, filters: [...filters, small] }),
        groups.filter((group) => group["Things.sum"] <= most)
      )
    }), { arbitrary: { runs: 100 }, timeout: 60_000 })
})
