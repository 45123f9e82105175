import { DateTime } from "effect"
import { type SqlClient, type Statement } from "effect/sql"
import type { CustomerId } from "../platform/ids/Id.ts"
import {
  type AnalyticsModel,
  type Dimension,
  type DimensionType,
  type Measure,
  type ScopeRule
} from "../platform/modules/AnalyticsModel.ts"
import type { Granularity } from "./AnalyticsQuery.ts"
import type { Condition, FilterValue, Test } from "./QueryFilter.ts"
import type { Group, QueryPlan } from "./QueryPlan.ts"
import type { TimeRange } from "./TimeRange.ts"

export interface Reach {
  readonly organizationId: string
  readonly rules: ReadonlyArray<ScopeRule>
  /** Values of `:vendorId` and `:customerId`; null matches no row. */
  readonly vendorId: string | null
  readonly customerId: CustomerId | null
}

type Sql = SqlClient.SqlClient
type Fragment = Statement.Fragment

const castOf: Readonly<Record<DimensionType, string>> = {
  string: "text",
  number: "numeric",
  time: "timestamptz",
  boolean: "boolean"
}

const expressionOf = (
  sql: Sql,
  { isLocal = false, sql: text, type }: Pick<Dimension, "isLocal" | "sql" | "type">,
  zone: string
): Fragment =>
  isLocal
    ? sql`((${sql.literal(text)})::timestamp at time zone ${zone}::text)`
    : sql.literal(`(${text})::${castOf[type]}`)

const labels: Readonly<Record<Exclude<Granularity, "hour">, string>> = {
  day: "YYYY-MM-DD",
  week: "IYYY-\"W\"IW",
  month: "YYYY-MM",
  year: "YYYY"
}

const aggregateOf = ({ decimals, filter, sql: text, type }: Measure): string => {
  const only = filter === undefined ? "" : ` filter (where ${filter})`
  switch (type) {
    case "count":
      return `count(${text === undefined ? "*" : text})${only}`
    case "countDistinct":
      return `count(distinct ${text})${only}`
    case "sum":
      return decimals === undefined
        ? `coalesce(sum(${text})${only}, 0)`
        : `coalesce(round((sum(${text})${only})::numeric, ${decimals}), 0)`
    case "avg":
      return `coalesce(round((avg(${text})${only})::numeric, ${decimals ?? 0}), 0)`
    case "min":
    case "max":
      return `${type}((${text})::numeric)${only}`
  }
}

const comparison = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const

const textOf = (value: FilterValue): string => value instanceof Date ? value.toISOString() : String(value)

const liesIn = (sql: Sql, subject: Fragment, { from, until, withEnd }: TimeRange): Fragment =>
  sql.and([
    ...from === undefined ? [] : [sql`${subject} >= ${from}::timestamptz`],
    ...until === undefined ? [] : [sql`${subject} ${sql.literal(withEnd ? "<=" : "<")} ${until}::timestamptz`]
  ])

/** A missing value counts as false: negations keep such rows. */
const testOf = (sql: Sql, subject: Fragment, type: DimensionType, test: Test): Fragment => {
  switch (test._tag) {
    case "IsSet":
      return test.negated ? sql`${subject} is null` : sql`${subject} is not null`
    case "IsOneOf": {
      const list = sql`${test.values.map(textOf)}::text[]::${sql.literal(castOf[type])}[]`
      const found = sql`${subject} = any(${list})`
      return test.negated ? sql`(${found}) is not true` : found
    }
    case "Contains":
      return sql.or(test.texts.map((text) => sql`strpos(lower(${subject}), lower(${text})) > 0`))
    case "Compares":
      return sql`${subject} ${sql.literal(comparison[test.by])} ${textOf(test.value)}::text::${
        sql.literal(castOf[type])
      }`
    case "LiesIn":
      return liesIn(sql, subject, test.range)
  }
}

const conditionOf = (
  sql: Sql,
  condition: Condition,
  zone: string,
  measured: (member: string) => Fragment
): Fragment => {
  if (condition._tag === "Test") {
    const { subject, test } = condition
    return subject._tag === "Measure"
      ? testOf(sql, measured(subject.member), "number", test)
      : testOf(sql, expressionOf(sql, subject, zone), subject.type, test)
  }
  const conditions = condition.conditions.map((one) => conditionOf(sql, one, zone, measured))
  return condition._tag === "And" ? sql.and(conditions) : sql.or(conditions)
}

/** A table limited to the organization's rows: a model's SQL cannot reach others. */
const ownRows = (
  sql: Sql,
  table: string,
  { organizationId }: Reach,
  parent?: AnalyticsModel["parent"]
): Fragment =>
  parent === undefined
    ? sql`(select * from ${sql(table)} where organization_id = ${organizationId}) as ${sql(table)}`
    : sql`(select child.* from ${sql(table)} child join ${sql(parent.table)} parent on parent.id = child.${
      sql(parent.column)
    } where parent.organization_id = ${organizationId}) as ${sql(table)}`

const tablesOf = (sql: Sql, { joins = [], parent, table }: AnalyticsModel, reach: Reach): Fragment =>
  sql.join(" ", false)([
    ownRows(sql, table, reach, parent),
    ...joins.map(({ on, table: joined, type }) =>
      sql`${sql.literal(type)} join ${ownRows(sql, joined, reach)} on ${sql.literal(`(${on})`)}`
    )
  ])

const ruleOf = (sql: Sql, { filter }: ScopeRule, reach: Reach): Fragment =>
  sql`(${
    sql.join("", false)(
      filter.split(/(?<!:):(vendorId|customerId)\b/).map((part, n) =>
        n % 2 === 0 ? sql.literal(part) : sql`${part === "vendorId" ? reach.vendorId : reach.customerId}`
      )
    )
  })`

/** Hours stay instants: one that comes twice is two. */
const groupOf = (sql: Sql, { dimension, granularity }: Group, zone: string): Fragment => {
  const time = expressionOf(sql, dimension, zone)
  if (granularity === undefined) return time
  const unit = sql.literal(`'${granularity}'`)
  return granularity === "hour"
    ? sql`date_trunc(${unit}, ${time}, ${zone}::text)`
    : sql`date_trunc(${unit}, ${time} at time zone ${zone}::text)`
}

/** Labels are formatted after aggregation: once per bucket and not per row. */
const labelOf = (sql: Sql, { granularity }: Group, column: Fragment): Fragment =>
  granularity === undefined || granularity === "hour"
    ? column
    : sql`to_char(${column}, ${sql.literal(`'${labels[granularity]}'`)})`

const measuresOf = ({ measures, ofGroups }: QueryPlan): ReadonlyMap<string, Measure> => {
  const tested = (condition: Condition): ReadonlyArray<readonly [string, Measure]> =>
    condition._tag !== "Test"
      ? condition.conditions.flatMap(tested)
      : condition.subject._tag === "Measure"
      ? [[condition.subject.member, condition.subject.measure]]
      : []
  return new Map([...measures, ...ofGroups.flatMap(tested)])
}

/**
 * The statement of a query. Client input only becomes a parameter or selects an expression of the model. Columns are
 * `g0`, … for groups and `m0`, … for measures, in the order of the plan.
 */
export const statementOf = (sql: Sql, plan: QueryPlan, reach: Reach) => {
  const { groups, limit, model, ofGroups, ofRows, order, segments } = plan
  const all = [...measuresOf(plan)]
  const zone = DateTime.zoneToString(plan.zone)
  const column = (member: string): Fragment => {
    const group = groups.findIndex((one) => one.member === member)
    return sql.literal(group < 0 ? `r.m${all.findIndex(([name]) => name === member)}` : `r.g${group}`)
  }
  const rows = sql.and([
    ...reach.rules.map((rule) => ruleOf(sql, rule, reach)),
    ...segments.map((text) => sql.literal(`(${text})`)),
    ...ofRows.map((condition) => conditionOf(sql, condition, zone, column))
  ])
  const inner = [
    ...groups.map((group, n) => sql`${groupOf(sql, group, zone)} as ${sql.literal(`g${n}`)}`),
    ...all.map(([, measure], n) => sql.literal(`${aggregateOf(measure)} as m${n}`))
  ]
  const outer = [
    ...groups.map((group, n) => sql`${labelOf(sql, group, sql.literal(`r.g${n}`))} as ${sql.literal(`g${n}`)}`),
    ...plan.measures.map((_, n) => sql.literal(`r.m${n}`))
  ]
  const grouped = groups.length === 0 ? "" : ` group by ${groups.map((_, n) => n + 1).join(", ")}`
  const sorted = order.map(([member, direction]) => {
    const text = groups.find((one) => one.member === member)?.dimension.type === "string"
    // Byte order, independent of the server's collation.
    return sql`${column(member)}${sql.literal(`${text ? " collate \"C\"" : ""} ${direction} nulls last`)}`
  })
  return sql`select ${sql.csv(outer)} from (
      select ${sql.csv(inner)} from ${tablesOf(sql, model, reach)} where ${rows}${sql.literal(grouped)}) r
    where ${sql.and(ofGroups.map((condition) => conditionOf(sql, condition, zone, column)))}
    ${sorted.length === 0 ? sql.literal("") : sql.csv("order by", sorted)} limit ${limit}`
}
