import { type DimensionType } from "./AnalyticsModel.ts"
import { listed, type Refusals } from "./QueryMembers.ts"
import { momentNamed, rangeBetween, type TimeRange } from "./TimeRange.ts"

/** A filter value of its member's type; numbers sent as text stay text, to keep their precision. */
export type FilterValue = string | number | boolean | Date

/** A test of a row or a group. A missing value passes only the test for absence and negations. */
export type Test =
  | { readonly _tag: "IsOneOf"; readonly values: ReadonlyArray<FilterValue>; readonly negated: boolean }
  | { readonly _tag: "Contains"; readonly texts: ReadonlyArray<string> }
  | { readonly _tag: "Compares"; readonly by: "gt" | "gte" | "lt" | "lte"; readonly value: FilterValue }
  | { readonly _tag: "IsSet"; readonly negated: boolean }
  | { readonly _tag: "LiesIn"; readonly range: TimeRange }

/** Limits of a filter tree: depth of groups, filters and groups in total, values in total. */
export const filterLimits = { depth: 10, filters: 200, values: 1000 } as const

const every = ["string", "number", "time", "boolean"] as const

/** The operators and the types each applies to (spec §4 Analytics). */
export const operators: Readonly<Record<string, ReadonlyArray<DimensionType>>> = {
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

/** A filter as sent, its member, and its path in the query. */
export interface SentTest {
  readonly path: string
  readonly operator: unknown
  readonly values: unknown
  readonly type: DimensionType
}

/** Counts the filters and values of a query. */
export interface Counted {
  filters: number
  values: number
}

const decimal = /^-?\d{1,30}(\.\d{1,30})?$/

const valueOf = (sent: unknown, type: DimensionType): FilterValue | undefined => {
  if (type === "number") {
    return typeof sent === "number" || (typeof sent === "string" && decimal.test(sent)) ? sent : undefined
  }
  if (type === "boolean") {
    return sent === true || sent === "true" ? true : sent === false || sent === "false" ? false : undefined
  }
  if (typeof sent !== "string") return undefined
  return type === "time" ? momentNamed(sent)?.moment : sent
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
  const wrong = name === undefined
    ? `unknown operator ${JSON.stringify(operator) ?? "(none)"}`
    : `${name} does not apply to a member of type ${type}`
  refuse(`${path}.operator`, `${wrong}. Available: ${fitting}`)
  return undefined
}

const valuesOf = (
  { path, type, values }: SentTest,
  { refuse }: Refusals,
  counted: Counted
): ReadonlyArray<FilterValue> | undefined => {
  if (!Array.isArray(values) || values.length === 0) {
    refuse(`${path}.values`, "a list of at least one value is required")
    return undefined
  }
  counted.values += values.length
  if (counted.values > filterLimits.values) {
    refuse(`${path}.values`, `filters may have ${filterLimits.values} values at most`, "too_many")
    return undefined
  }
  const read = values.map((value) => valueOf(value, type))
  const wrong = read.indexOf(undefined)
  if (wrong >= 0) refuse(`${path}.values.${wrong}`, `expected ${expected[type]}`)
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
  refuse(`${path}.values`, `${operator} takes no values`)
  return undefined
}

const rangeOf = ({ path, values }: SentTest, { refuse }: Refusals): TimeRange | undefined => {
  const [from, to, ...others] = Array.isArray(values) ? values.map((text) => momentNamed(String(text))) : []
  if (from !== undefined && to !== undefined && others.length === 0) return rangeBetween(from, to, true)
  refuse(`${path}.values`, "exactly two values are required")
  return undefined
}

/** The test of a filter; undefined for an invalid one, after reporting the reason. */
export const testOf = (sent: SentTest, refusals: Refusals, counted: Counted): Test | undefined => {
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
  refusals.refuse(`${sent.path}.values`, "exactly one value is required")
  return undefined
}
