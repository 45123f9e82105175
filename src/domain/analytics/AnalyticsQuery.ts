import { Schema } from "effect"
import type { Issue } from "../platform/errors/ApiErrors.ts"
import { about } from "../platform/hints/Hints.ts"
import {
  type AnalyticsModel,
  type Dimension,
  type Measure,
  memberOf,
  membersOf,
  modelSources,
  type Segment
} from "../platform/modules/AnalyticsModel.ts"
import { TimeZone } from "../platform/text/BusinessDate.ts"
import { AnyJson, ShortText } from "../platform/text/Storable.ts"
import { presetForms } from "./TimeRange.ts"

export const granularities = ["hour", "day", "week", "month", "year"] as const
export type Granularity = typeof granularities[number]

export const rowLimit = { usual: 100, least: 1, most: 1000 } as const

export const queryLimits = { measures: 50, dimensions: 20, timeDimensions: 10, segments: 20, order: 50 } as const

const maxEntries = 1_000

const names = (most: number) => Schema.Array(ShortText).check(Schema.isMaxLength(most))

const maxUnknown = 10

/** An object of exactly these fields: ignoring a misspelt property would widen the result. */
const strict = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Unknown)]).check(
    Schema.makeFilter((sent: object) =>
      Object.keys(sent).filter((key) => !Object.hasOwn(fields, key)).slice(0, maxUnknown).map((key) => ({
        path: [key],
        issue: `is not known. Known are ${Object.keys(fields).join(", ")}.`
      }))
    )
  )

const TimeDimension = strict({
  dimension: ShortText.annotate({ description: "A dimension of type time, `Model.member`." }),
  granularity: Schema.optionalKey(
    ShortText.annotate({
      description: "hour, day, week, month or year of the time zone. An hour is labelled with its offset, " +
        "2026-10-25T02:00+01:00. Absent: it filters and does not group."
    })
  ),
  dateRange: Schema.optionalKey(
    Schema.Union([ShortText, names(maxEntries)]).annotate({
      description:
        "Two ISO 8601 dates or times, local to the time zone where they have no offset; an end date without a time is " +
        "part of it, an end time is not. Or one of: " +
        `${presetForms}.`
    })
  )
})

/** PostgreSQL reads other names as fixed offsets: CET has no summer there. */
const Zone = TimeZone.check(
  Schema.isMaxLength(64),
  Schema.makeFilter((name: string) =>
    name.includes("/") || name === "UTC" || "must be the IANA name of a time zone, such as Europe/Zurich."
  )
)

/** The body of `POST /api/analytics/query`; names have the form `Model.member`. */
export const AnalyticsQuery = strict({
  measures: names(queryLimits.measures).annotate({ description: "Sums to calculate; all of one model, at least one." }),
  dimensions: Schema.optionalKey(
    names(queryLimits.dimensions).annotate({ description: "Members of the measures' model to group by." })
  ),
  timeDimensions: Schema.optionalKey(
    Schema.Array(TimeDimension).check(Schema.isMaxLength(queryLimits.timeDimensions)).annotate({
      description: "Times to filter or group by."
    })
  ),
  filters: Schema.optionalKey(
    Schema.Array(AnyJson).check(Schema.isMaxLength(maxEntries)).annotate({
      description: "All must hold. Each is { member, operator, values } or a group { and: [...] } or { or: [...] }. " +
        "Operators: equals, notEquals (any type), contains (string), in, notIn (string, number), gt, gte, lt, lte " +
        "(number), beforeDate, afterDate, inDateRange (time), set, notSet (any type, without values)."
    })
  ),
  segments: Schema.optionalKey(names(queryLimits.segments).annotate({ description: "Named conditions of the model." })),
  order: Schema.optionalKey(
    Schema.Record(Schema.String, ShortText).check(Schema.isMaxProperties(queryLimits.order)).annotate({
      description: "From members of the query to asc or desc, the first one first."
    })
  ),
  timezone: Schema.optionalKey(
    Zone
  ).pipe(about("IANA name of the zone of days, hours and local times. Default: the store's.")),
  limit: Schema.optionalKey(Schema.Finite.annotate({ description: "Rows at most, 1 to 1000. Default 100." }))
}).annotate({ identifier: "AnalyticsQuery" })
export type AnalyticsQuery = typeof AnalyticsQuery.Type

const Value = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])

export const AnalyticsRow = Schema.Record(Schema.String, Value)
export type AnalyticsRow = typeof AnalyticsRow.Type

export const AnalyticsResult = Schema.Struct({
  query: AnalyticsQuery.pipe(about("The query as it was understood.")),
  rows: Schema.Array(AnalyticsRow).pipe(about("One row for each group, its values by member.")),
  source: Schema.String.pipe(about("Name of the model that was asked."))
}).annotate({ identifier: "AnalyticsResult" })
export type AnalyticsResult = typeof AnalyticsResult.Type

const memberLists = {
  measures: Schema.Array(Schema.String).pipe(about("Numbers to ask for, as `Model.member`.")),
  dimensions: Schema.Array(Schema.String).pipe(about("Members to group and filter by, as `Model.member`.")),
  segments: Schema.Array(Schema.String).pipe(about("Named conditions, as `Model.member`."))
}

export const AnalyticsMeta = Schema.Struct({
  models: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      source: Schema.Literals([...modelSources]).pipe(about("custom-schema: declared by the deployment.")),
      ...memberLists
    })
  ).pipe(about("Models that the caller may ask.")),
  ...memberLists
}).annotate({ identifier: "AnalyticsMeta" })
export type AnalyticsMeta = typeof AnalyticsMeta.Type

export interface Refusals {
  readonly issues: ReadonlyArray<Issue>
  readonly refuse: (path: string, message: string, code?: string) => void
}

export const noRefusals = (): Refusals => {
  const issues: Array<Issue> = []
  return { issues, refuse: (path, message, code = "invalid") => void issues.push({ path, message, code }) }
}

export interface Members {
  readonly measures: ReadonlyMap<string, Measure>
  readonly dimensions: ReadonlyMap<string, Dimension>
  readonly segments: ReadonlyMap<string, Segment>
}

const named = <A>(model: AnalyticsModel, members: Readonly<Record<string, A>>): ReadonlyArray<readonly [string, A]> =>
  Object.entries(members).map(([name, member]) => [memberOf(model, name), member])

export const membersIn = (model: AnalyticsModel, visible: ReadonlyArray<AnalyticsModel>): Members => {
  const joined = (model.joins ?? []).flatMap((join) => visible.filter(({ name }) => name === join.model))
  return {
    measures: new Map(named(model, model.measures)),
    dimensions: new Map([model, ...joined].flatMap((one) => named(one, one.dimensions))),
    segments: new Map(named(model, model.segments ?? {}))
  }
}

export const listed = (names: Iterable<string>): string => [...names].join(", ") || "none"

export const modelAsked = (
  measures: ReadonlyArray<string>,
  visible: ReadonlyArray<AnalyticsModel>,
  { refuse }: Refusals
): AnalyticsModel | undefined => {
  const available = () => listed(visible.flatMap((model) => membersOf(model, model.measures)))
  if (measures.length === 0) {
    refuse("measures", `must name at least one of ${available()}.`, "required")
    return undefined
  }
  const found = measures.map((measure) => visible.find(({ name }) => measure.startsWith(`${name}.`)))
  for (const [n, model] of found.entries()) {
    if (model === undefined) refuse(`measures.${n}`, `must be one of ${available()}.`, "unknown_value")
  }
  const [first] = found
  const other = found.findIndex((model) => model !== undefined && model !== first)
  if (first !== undefined && other > 0) {
    refuse(`measures.${other}`, `must be of ${first.name}, because a query asks one model.`)
  }
  return first
}
