import { type DimensionType, type Measure } from "./AnalyticsModel.ts"
import { type Counted, filterLimits, type Test, testOf } from "./FilterTest.ts"
import { listed, type Members, type Refusals } from "./QueryMembers.ts"

/** The subject of a test: a dimension of the rows, or a measure of their groups. */
export type Subject =
  | { readonly _tag: "Dimension"; readonly member: string; readonly sql: string; readonly type: DimensionType }
  | { readonly _tag: "Measure"; readonly member: string; readonly measure: Measure }

/** A resolved filter of a query. */
export type Condition =
  | { readonly _tag: "And" | "Or"; readonly conditions: ReadonlyArray<Condition> }
  | { readonly _tag: "Test"; readonly subject: Subject; readonly test: Test }

interface Reading extends Refusals {
  readonly members: Members
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
  refuse(`${path}.member`, `unknown member ${JSON.stringify(member) ?? "(none)"}. Available: ${available}`)
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
    reading.refuse(path, "a group needs a list of at least one filter")
    return undefined
  }
  if (depth >= filterLimits.depth) {
    reading.refuse(path, `groups may be ${filterLimits.depth} deep at most`, "too_deep")
    return undefined
  }
  const read = sent.map((one, n) => filterOf(`${path}.${n}`, one, reading, depth + 1))
  return { _tag: tag, conditions: read.filter((one) => one !== undefined) }
}

const filterOf = (path: string, sent: unknown, reading: Reading, depth: number): Condition | undefined => {
  const { counted, refuse } = reading
  counted.filters++
  if (counted.filters > filterLimits.filters) {
    // Reported once; entries beyond the limit are not validated.
    if (counted.filters === filterLimits.filters + 1) {
      refuse(path, `there may be ${filterLimits.filters} filters at most`, "too_many")
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
    refuse(path, "expected { member, operator, values }, { and: [...] } or { or: [...] }")
    return undefined
  }
  const subject = subjectOf(path, sent["member"], reading)
  if (subject === undefined) return undefined
  const type = subject._tag === "Measure" ? "number" : subject.type
  const test = testOf({ path, type, operator: sent["operator"], values: sent["values"] }, reading, counted)
  return test && { _tag: "Test", subject, test }
}

const isAbout = (tag: Subject["_tag"], condition: Condition): boolean =>
  condition._tag === "Test"
    ? condition.subject._tag === tag
    : condition.conditions.every((one) => isAbout(tag, one))

/** Tests of rows, and tests of groups. */
export interface Filters {
  readonly ofRows: ReadonlyArray<Condition>
  readonly ofGroups: ReadonlyArray<Condition>
}

/** Splits groups of `and`, since dimensions are tested before aggregation and measures after it. */
const parts = (condition: Condition): ReadonlyArray<Condition> =>
  condition._tag === "And" ? condition.conditions.flatMap(parts) : [condition]

/** Resolves the filters of a query and reports what is wrong with them. */
export const filtersOf = (sent: ReadonlyArray<unknown>, members: Members, { issues, refuse }: Refusals): Filters => {
  const reading: Reading = { members, issues, refuse, counted: { filters: 0, values: 0 } }
  const ofRows: Array<Condition> = []
  const ofGroups: Array<Condition> = []
  for (const [n, one] of sent.entries()) {
    const read = filterOf(`filters.${n}`, one, reading, 0)
    for (const part of read === undefined ? [] : parts(read)) {
      if (isAbout("Dimension", part)) ofRows.push(part)
      else if (isAbout("Measure", part)) ofGroups.push(part)
      else refuse(`filters.${n}`, "a group of `or` is about dimensions or about measures, not about both")
    }
  }
  return { ofRows, ofGroups }
}
