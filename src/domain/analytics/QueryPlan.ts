import { type DateTime, Result } from "effect"
import { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { type AnalyticsModel, type Dimension, type Measure } from "../platform/modules/AnalyticsModel.ts"
import {
  type AnalyticsQuery,
  granularities,
  type Granularity,
  listed,
  type Members,
  membersIn,
  modelAsked,
  noRefusals,
  type Refusals,
  rowLimit
} from "./AnalyticsQuery.ts"
import { type Condition, filtersOf } from "./QueryFilter.ts"
import { presetForms, presetRange, rangeBetween, type TimeRange } from "./TimeRange.ts"

export interface Group {
  readonly member: string
  readonly dimension: Dimension
  readonly granularity: Granularity | undefined
}

export interface QueryPlan {
  readonly model: AnalyticsModel
  readonly zone: DateTime.TimeZone
  readonly measures: ReadonlyArray<readonly [member: string, measure: Measure]>
  readonly groups: ReadonlyArray<Group>
  readonly ofRows: ReadonlyArray<Condition>
  readonly ofGroups: ReadonlyArray<Condition>
  readonly segments: ReadonlyArray<string>
  readonly order: ReadonlyArray<readonly [member: string, direction: "asc" | "desc"]>
  readonly limit: number
}

const membersOf = <A>(
  kind: "measure" | "dimension" | "segment",
  sent: ReadonlyArray<string>,
  known: ReadonlyMap<string, A>,
  { refuse }: Refusals
) =>
  [...new Set(sent)].flatMap((name) => {
    const member = known.get(name)
    if (member !== undefined) return [[name, member] as const]
    refuse(`${kind}s.${sent.indexOf(name)}`, `must be a ${kind} of ${listed(known.keys())}.`, "unknown_value")
    return []
  })

/** Presets are relative to `now`; days are those of the zone. */
export interface At {
  readonly now: Date
  readonly zone: DateTime.TimeZone
}

const rangeOf = (
  path: string,
  sent: string | ReadonlyArray<string>,
  { now, zone }: At,
  { refuse }: Refusals
): TimeRange | undefined => {
  if (typeof sent === "string") {
    const range = presetRange(sent, now, zone)
    if (range === undefined) refuse(path, `must be two dates or one of ${presetForms}.`, "unknown_value")
    return range
  }
  const [from, to, ...others] = sent
  if (from === undefined || to === undefined || others.length > 0) {
    refuse(path, "must be two dates or times in ISO 8601, or one preset.")
    return undefined
  }
  const range = rangeBetween(from, to, zone, false)
  if (typeof range !== "string") return range
  refuse(path, range)
  return undefined
}

const isGranularity = (text: string): text is Granularity => granularities.some((one) => one === text)

interface Times {
  readonly groups: ReadonlyArray<Group>
  readonly ofRows: ReadonlyArray<Condition>
}

const timeOf = (
  path: string,
  { dateRange, dimension: member, granularity }: NonNullable<AnalyticsQuery["timeDimensions"]>[number],
  members: Members,
  at: At,
  refusals: Refusals
): Times => {
  const { refuse } = refusals
  const dimension = members.dimensions.get(member)
  if (dimension?.type !== "time") {
    const times = [...members.dimensions].filter(([, { type }]) => type === "time").map(([name]) => name)
    refuse(`${path}.dimension`, `must be a dimension of time: ${listed(times)}.`, "unknown_value")
    return { groups: [], ofRows: [] }
  }
  if (granularity !== undefined && !isGranularity(granularity)) {
    refuse(`${path}.granularity`, `must be one of ${listed(granularities)}.`, "unknown_value")
  }
  const range = dateRange === undefined ? undefined : rangeOf(`${path}.dateRange`, dateRange, at, refusals)
  const subject = { _tag: "Dimension", member, ...dimension } as const
  return {
    groups: granularity !== undefined && isGranularity(granularity) ? [{ member, dimension, granularity }] : [],
    ofRows: range === undefined ? [] : [{ _tag: "Test", subject, test: { _tag: "LiesIn", range } }]
  }
}

const namedOnce = (groups: ReadonlyArray<Group>, { refuse }: Refusals): ReadonlyArray<Group> => {
  const twice = groups.find(({ member }, n) => groups.findIndex((one) => one.member === member) !== n)
  if (twice !== undefined) refuse("timeDimensions", `must not name "${twice.member}" twice.`, "duplicate")
  return groups
}

const orderOf = (
  sent: Readonly<Record<string, string>>,
  selected: ReadonlyArray<string>,
  { refuse }: Refusals
): QueryPlan["order"] =>
  Object.entries(sent).flatMap(([member, direction]) => {
    if (!selected.includes(member)) {
      refuse(`order.${member}`, `must be in the result, which has ${listed(selected)}.`)
    } else if (direction !== "asc" && direction !== "desc") {
      refuse(`order.${member}`, "must be asc or desc.", "unknown_value")
    } else return [[member, direction] as const]
    return []
  })

/** Groups without an explicit order sort by time, then by the others: a limit is deterministic. */
const usualOrder = (groups: ReadonlyArray<Group>): QueryPlan["order"] =>
  groups.toSorted((a, b) => Number(a.granularity === undefined) - Number(b.granularity === undefined))
    .map(({ member }) => [member, "asc"])

const limitOf = (sent: number = rowLimit.usual): number =>
  Math.min(Math.max(Math.trunc(sent), rowLimit.least), rowLimit.most)

const resolved = (query: AnalyticsQuery, model: AnalyticsModel, members: Members, at: At, refusals: Refusals) => {
  const measures = membersOf("measure", query.measures, members.measures, refusals)
  const times = (query.timeDimensions ?? []).map((one, n) => timeOf(`timeDimensions.${n}`, one, members, at, refusals))
  const dimensions = membersOf("dimension", query.dimensions ?? [], members.dimensions, refusals)
    .map(([member, dimension]): Group => ({ member, dimension, granularity: undefined }))
  const groups = namedOnce([...dimensions, ...times.flatMap((time) => time.groups)], refusals)
  const filters = filtersOf(query.filters ?? [], members, at.zone, refusals)
  const segments = membersOf("segment", query.segments ?? [], members.segments, refusals).map(([, { sql }]) => sql)
  const selected = [...groups.map(({ member }) => member), ...measures.map(([member]) => member)]
  const asked = orderOf(query.order ?? {}, selected, refusals)
  const order = [...asked, ...usualOrder(groups).filter(([member]) => !asked.some(([named]) => named === member))]
  const ofRows = [...times.flatMap((time) => time.ofRows), ...filters.ofRows]
  const limit = limitOf(query.limit)
  return { model, zone: at.zone, measures, groups, ofRows, ofGroups: filters.ofGroups, segments, order, limit }
}

/** Resolves a query in the caller's scope; fails with every unknown name. */
export const planOf = (
  query: AnalyticsQuery,
  visible: ReadonlyArray<AnalyticsModel>,
  at: At
): Result.Result<QueryPlan, ValidationFailed> => {
  const refusals = noRefusals()
  const model = modelAsked(query.measures, visible, refusals)
  const plan = model && resolved(query, model, membersIn(model, visible), at, refusals)
  return plan === undefined || refusals.issues.length > 0
    ? Result.fail(ValidationFailed.issues(refusals.issues))
    : Result.succeed(plan)
}
