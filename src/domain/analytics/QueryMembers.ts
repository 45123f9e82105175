import type { Issue } from "../errors/ApiErrors.ts"
import {
  type AnalyticsModel,
  type Dimension,
  type Measure,
  memberOf,
  membersOf,
  type Segment
} from "./AnalyticsModel.ts"

/** Collects the errors of a query, to report all at once. */
export interface Refusals {
  readonly issues: ReadonlyArray<Issue>
  readonly refuse: (path: string, message: string, code?: string) => void
}

/** An empty list of errors. */
export const noRefusals = (): Refusals => {
  const issues: Array<Issue> = []
  return { issues, refuse: (path, message, code = "invalid") => void issues.push({ path, message, code }) }
}

/** All members that a query of a model can name, by `Model.member`. */
export interface Members {
  readonly measures: ReadonlyMap<string, Measure>
  readonly dimensions: ReadonlyMap<string, Dimension>
  readonly segments: ReadonlyMap<string, Segment>
}

const named = <A>(model: AnalyticsModel, members: Readonly<Record<string, A>>): ReadonlyArray<readonly [string, A]> =>
  Object.entries(members).map(([name, member]) => [memberOf(model, name), member])

/** The members of a model, with the dimensions of joined models in the caller's scope. */
export const membersIn = (model: AnalyticsModel, visible: ReadonlyArray<AnalyticsModel>): Members => {
  const joined = (model.joins ?? []).flatMap((join) => visible.filter(({ name }) => name === join.model))
  return {
    measures: new Map(named(model, model.measures)),
    dimensions: new Map([model, ...joined].flatMap((one) => named(one, one.dimensions))),
    segments: new Map(named(model, model.segments ?? {}))
  }
}

/** Lists the valid names in the error for an unknown one. */
export const listed = (names: Iterable<string>): string => [...names].join(", ") || "none"

/** The model of the query's measures; undefined, after reporting the reason, where they do not share one. */
export const modelAsked = (
  measures: ReadonlyArray<string>,
  visible: ReadonlyArray<AnalyticsModel>,
  { refuse }: Refusals
): AnalyticsModel | undefined => {
  const available = () => listed(visible.flatMap((model) => membersOf(model, model.measures)))
  if (measures.length === 0) {
    refuse("measures", `at least one measure is required. Available: ${available()}`)
    return undefined
  }
  const found = measures.map((measure) => visible.find(({ name }) => measure.startsWith(`${name}.`)))
  for (const [n, model] of found.entries()) {
    if (model === undefined) refuse(`measures.${n}`, `unknown measure "${measures[n]}". Available: ${available()}`)
  }
  const [first] = found
  const other = found.findIndex((model) => model !== undefined && model !== first)
  if (first !== undefined && other > 0) {
    refuse(`measures.${other}`, `a query asks one model: "${measures[other]}" is not of ${first.name}`)
  }
  return first
}
