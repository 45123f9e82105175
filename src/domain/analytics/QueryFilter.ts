import type { DateTime } from "effect"
import type { DimensionType, Measure } from "../platform/modules/AnalyticsModel.ts"
import { readTime } from "../platform/text/Time.ts"
import { listed, type Members, type Refusals } from "./AnalyticsQuery.ts"
import { rangeBetween, type TimeRange } from "./TimeRange.ts"

/** A filter value of its member's type; numbers sent as text stay text, to keep their precision. */
export type FilterValue = string | number | boolean | Date

export type Test =
  | { readonly _tag: "IsOneOf"; readonly values: ReadonlyArray<FilterValue>; readonly negated: boolean }
  | { readonly _tag: "Contains"; readonly texts: ReadonlyArray<string> }
  | { readonly _tag: "Compares"; readonly by: "gt" | "gte" | "lt" | "lte"; readonly value: FilterValue }
  | { readonly _tag: "IsSet"; readonly negated: boolean }
  | { readonly _tag: "LiesIn"; readonly range: TimeRange }

const filterLimits = { depth: 10, filters: 200, values: 1000 } as const

const every = ["string", "number", "time", "boolean"] as const

const operators: Readonly<Record<string, ReadonlyArray<DimensionType>>> = {
  equals: every,
  notEquals: every,
  contains: ["string"],
  in: ["string", "number"],
  notIn: ["string", "number"],
  gt: ["number"],
  gte: ["number"],
  lt: ["number"],
  lte: ["number"],
  beforeDate: ["time"],
  afterDate: ["time"],
  inDateRange: ["time"],
  set: every,
  notSet: every
}

interface SentTest {
  readonly path: string
  readonly operator: unknown
  readonly values: unknown
  readonly type: DimensionType
  readonly zone: DateTime.TimeZone
}

interface Counted {
  filters: number
  values: number
}

const decimal = /^-?\d{1,30}(\.\d{1,30})?$/

const valueOf = (sent: unknown, type: DimensionType, zone: DateTime.TimeZone): FilterValue | undefined => {
  if (type === "number") {
    return typeof sent === "number" || (typeof sent === "string" && decimal.test(sent)) ? sent : undefined
  }
  if (type === "boolean") {
    return sent === true || sent === "true" ? true : sent === false || sent === "false" ? false : undefined
  }
  if (typeof sent !== "string") return undefined
  return type === "time" ? readTime(sent, zone, "beginning") : sent
}

const expected: Readonly<Record<DimensionType, string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  time: "a date or a time in ISO 8601"
}

const operatorOf = ({ operator, path, type }: SentTest, { refuse }: Refusals): string | undefined => {
  const name = typeof operator === "string" && Object.hasOwn(operators, operator) ? operator : undefined
  if (name !== undefined && operators[name]?.includes(type)) return name
  const fitting = listed(Object.keys(operators).filter((one) => operators[one]?.includes(type)))
  const why = name === undefined ? "" : `: ${name} does not apply to a member of type ${type}`
  refuse(`${path}.operator`, `must be one of ${fitting}${why}.`, "unknown_value")
  return undefined
}

const valuesOf = (
  { path, type, values, zone }: SentTest,
  { refuse }: Refusals,
  counted: Counted
): ReadonlyArray<FilterValue> | undefined => {
  if (!Array.isArray(values) || values.length === 0) {
    refuse(`${path}.values`, "must be a list of at least one value.", "required")
    return undefined
  }
  counted.values += values.length
  if (counted.values > filterLimits.values) {
    refuse(`${path}.values`, `must leave at most ${filterLimits.values} values in all filters.`, "too_many")
    return undefined
  }
  const read = values.map((value) => valueOf(value, type, zone))
  const wrong = read.indexOf(undefined)
  if (wrong >= 0) refuse(`${path}.values.${wrong}`, `must be ${expected[type]}.`, "type")
  return wrong >= 0 ? undefined : read.filter((value) => value !== undefined)
}

const comparisons: Readonly<Record<string, "gt" | "gte" | "lt" | "lte">> = {
  gt: "gt",
  gte: "gte",
  lt: "lt",
  lte: "lte",
  beforeDate: "lte",
  afterDate: "gte"
}

const without = (operator: string, { path, values }: SentTest, { refuse }: Refusals): Test | undefined => {
  if (values === undefined || (Array.isArray(values) && values.length === 0)) {
    return { _tag: "IsSet", negated: operator === "notSet" }
  }
  refuse(`${path}.values`, `must be absent: ${operator} takes no values.`)
  return undefined
}

const rangeOf = ({ path, values, zone }: SentTest, { refuse }: Refusals): TimeRange | undefined => {
  const [from, to, ...others] = Array.isArray(values) ? values.map(String) : []
  const range = from === undefined || to === undefined || others.length > 0
    ? "must be exactly two dates."
    : rangeBetween(from, to, zone, true)
  if (typeof range !== "string") return range
  refuse(`${path}.values`, range)
  return undefined
}

const testOf = (sent: SentTest, refusals: Refusals, counted: Counted): Test | undefined => {
  const operator = operatorOf(sent, refusals)
  if (operator === undefined) return undefined
  if (operator === "set" || operator === "notSet") return without(operator, sent, refusals)
  const values = valuesOf(sent, refusals, counted)
  if (values === undefined) return undefined
  if (operator === "contains") return { _tag: "Contains", texts: values.map(String) }
  if (operator === "inDateRange") {
    const range = rangeOf(sent, refusals)
    return range && { _tag: "LiesIn", range }
  }
  const by = comparisons[operator]
  if (by === undefined) return { _tag: "IsOneOf", values, negated: operator === "notEquals" || operator === "notIn" }
  const [value, ...others] = values
  if (value !== undefined && others.length === 0) return { _tag: "Compares", by, value }
  refusals.refuse(`${sent.path}.values`, "must be exactly one value.")
  return undefined
}

export type Subject =
  | { readonly _tag: "Dimension"; readonly member: string; readonly sql: string; readonly type: DimensionType }
  | { readonly _tag: "Measure"; readonly member: string; readonly measure: Measure }

export type Condition =
  | { readonly _tag: "And" | "Or"; readonly conditions: ReadonlyArray<Condition> }
  | { readonly _tag: "Test"; readonly subject: Subject; readonly test: Test }

interface Reading extends Refusals {
  readonly members: Members
  readonly zone: DateTime.TimeZone
  readonly counted: Counted
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const subjectOf = (path: string, member: unknown, { members, refuse }: Reading): Subject | undefined => {
  const name = typeof member === "string" ? member : ""
  const dimension = members.dimensions.get(name)
  if (dimension !== undefined) return { _tag: "Dimension", member: name, ...dimension }
  const measure = members.measures.get(name)
  if (measure !== undefined) return { _tag: "Measure", member: name, measure }
  const available = listed([...members.dimensions.keys(), ...members.measures.keys()])
  refuse(`${path}.member`, `must be one of ${available}.`, "unknown_value")
  return undefined
}

const groupOf = (
  path: string,
  tag: "And" | "Or",
  sent: unknown,
  reading: Reading,
  depth: number
): Condition | undefined => {
  if (!Array.isArray(sent) || sent.length === 0) {
    reading.refuse(path, "must be a list of at least one filter.", "required")
    return undefined
  }
  if (depth >= filterLimits.depth) {
    reading.refuse(path, `must be at most ${filterLimits.depth} groups deep.`, "too_deep")
    return undefined
  }
  const read = sent.map((one, n) => filterOf(`${path}.${n}`, one, reading, depth + 1))
  return { _tag: tag, conditions: read.filter((one) => one !== undefined) }
}

const filterOf = (path: string, sent: unknown, reading: Reading, depth: number): Condition | undefined => {
  const { counted, refuse, zone } = reading
  counted.filters++
  if (counted.filters > filterLimits.filters) {
    if (counted.filters === filterLimits.filters + 1) {
      refuse(path, `must be one of at most ${filterLimits.filters} filters.`, "too_many")
    }
    return undefined
  }
  const keys = isObject(sent) ? Object.keys(sent) : []
  if (isObject(sent) && keys.length === 1 && keys[0] === "and") {
    return groupOf(`${path}.and`, "And", sent["and"], reading, depth)
  }
  if (isObject(sent) && keys.length === 1 && keys[0] === "or") {
    return groupOf(`${path}.or`, "Or", sent["or"], reading, depth)
  }
  if (!isObject(sent) || !keys.every((key) => ["member", "operator", "values"].includes(key))) {
    refuse(path, "must be { member, operator, values }, { and: [...] } or { or: [...] }.", "type")
    return undefined
  }
  const subject = subjectOf(path, sent["member"], reading)
  if (subject === undefined) return undefined
  const type = subject._tag === "Measure" ? "number" : subject.type
  const { operator, values } = sent
  const test = testOf({ path, type, zone, operator, values }, reading, counted)
  return test && { _tag: "Test", subject, test }
}

const isAbout = (tag: Subject["_tag"], condition: Condition): boolean =>
  condition._tag === "Test"
    ? condition.subject._tag === tag
    : condition.conditions.every((one) => isAbout(tag, one))

export interface Filters {
  readonly ofRows: ReadonlyArray<Condition>
  readonly ofGroups: ReadonlyArray<Condition>
}

/** Splits groups of `and`: dimensions are tested before aggregation and measures after it. */
const parts = (condition: Condition): ReadonlyArray<Condition> =>
  condition._tag === "And" ? condition.conditions.flatMap(parts) : [condition]

export const filtersOf = (
  sent: ReadonlyArray<unknown>,
  members: Members,
  zone: DateTime.TimeZone,
  { issues, refuse }: Refusals
): Filters => {
  const reading: Reading = { members, zone, issues, refuse, counted: { filters: 0, values: 0 } }
  const ofRows: Array<Condition> = []
  const ofGroups: Array<Condition> = []
  for (const [n, one] of sent.entries()) {
    const read = filterOf(`filters.${n}`, one, reading, 0)
    for (const part of read === undefined ? [] : parts(read)) {
      if (isAbout("Dimension", part)) ofRows.push(part)
      else if (isAbout("Measure", part)) ofGroups.push(part)
      else refuse(`filters.${n}`, "must be about dimensions or about measures, not about both.")
    }
  }
  return { ofRows, ofGroups }
}
