import { Context, Data, Effect, Layer } from "effect"
import { type Actor, holds, isSignedIn } from "../access/Actor.ts"

/** `count` without `sql` counts rows, with it rows that have a value. */
export const measureTypes = ["count", "countDistinct", "sum", "avg", "min", "max"] as const
export type MeasureType = typeof measureTypes[number]

/** The type decides which filter operators apply (spec §4 Analytics). */
export const dimensionTypes = ["string", "number", "time", "boolean"] as const
export type DimensionType = typeof dimensionTypes[number]

/** A number per group. All SQL of a model qualifies columns: `orders.grand_total`. */
export interface Measure {
  readonly type: MeasureType
  /** Amounts are in minor units. Only `count` needs no expression. */
  readonly sql?: string
  /** Only rows that meet it count. */
  readonly filter?: string
  /** Decimals of an `avg`, default 0 (contract, platform §11); of a `sum` those of its values. */
  readonly decimals?: number
}

export interface Dimension {
  readonly sql: string
  readonly type: DimensionType
  /** A `time` without a zone, such as a date: it is local to the zone of the query. */
  readonly isLocal?: boolean
}

export interface Join {
  readonly table: string
  readonly type: "left" | "inner"
  /** Without the organization, which is added. */
  readonly on: string
  readonly model?: string
}

export interface Segment {
  readonly sql: string
}

/** Shows a model to vendors or customers, limited to rows that meet `filter`. */
export interface ScopeRule {
  readonly role: "vendor" | "customer"
  /** Has `:vendorId` or `:customerId`, the caller's id. */
  readonly filter: string
}

/**
 * The queryable members of a table (spec §4 Analytics; contract, platform §11). Its SQL is used verbatim and never
 * contains client input; every table is read through the caller's organization.
 */
export interface AnalyticsModel {
  /** Starts with a letter; `Model` in `Model.member`. */
  readonly name: string
  readonly table: string
  /** For a table without `organization_id`: the table whose row `column` names. */
  readonly parent?: { readonly table: string; readonly column: string }
  readonly measures: Readonly<Record<string, Measure>>
  readonly dimensions: Readonly<Record<string, Dimension>>
  readonly joins?: ReadonlyArray<Join>
  readonly segments?: Readonly<Record<string, Segment>>
  readonly scopeRules?: ReadonlyArray<ScopeRule>
}

export const modelSources = ["builtin", "plugin", "custom-schema"] as const
export type ModelSource = typeof modelSources[number]

export const memberOf = (model: AnalyticsModel, name: string): string => `${model.name}.${name}`

export const membersOf = (model: AnalyticsModel, members: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.keys(members).map((name) => memberOf(model, name))

export interface KnownModel {
  readonly model: AnalyticsModel
  readonly source: ModelSource
}

/** Stops the startup with one line for the model's author. */
export class InvalidModel extends Data.TaggedError("InvalidModel")<{ readonly message: string }> {}

interface Modelling {
  readonly analyticsModels: () => ReadonlyArray<AnalyticsModel>
}

export const broughtBy = (
  core: ReadonlyArray<Modelling>,
  plugins: ReadonlyArray<Modelling>
): ReadonlyArray<KnownModel> => [
  ...core.flatMap(({ analyticsModels }) => analyticsModels().map((model) => ({ model, source: "builtin" as const }))),
  ...plugins.flatMap(({ analyticsModels }) => analyticsModels().map((model) => ({ model, source: "plugin" as const })))
]

export class BroughtModels
  extends Context.Service<BroughtModels, ReadonlyArray<KnownModel>>()("stoa/domain/platform/modules/BroughtModels")
{
  static readonly layerOf = (models: ReadonlyArray<KnownModel>) => Layer.succeed(BroughtModels, models)
}

export class AnalyticsModels
  extends Context.Service<AnalyticsModels, ReadonlyArray<KnownModel>>()("stoa/domain/platform/modules/AnalyticsModels")
{
  static readonly layerOf = (custom: ReadonlyArray<AnalyticsModel>) =>
    Layer.effect(
      AnalyticsModels,
      Effect.gen(function*() {
        const all = [...yield* BroughtModels, ...custom.map((model) => ({ model, source: "custom-schema" as const }))]
        const [flaw] = modelFlaws(all.map(({ model }) => model))
        return flaw === undefined ? all : yield* new InvalidModel({ message: `${flaw}.` })
      })
    )
}

const memberName = /^[A-Za-z][A-Za-z0-9_]{0,62}$/
const tableName = /^[a-z_][a-z0-9_]{0,62}$/

const isBlank = (text: unknown): boolean => typeof text !== "string" || text.trim() === ""

const isOneOf = (allowed: ReadonlyArray<string>, value: string): boolean => allowed.includes(value)

const flawsOfMeasure = (name: string, measure: Measure): ReadonlyArray<string> => {
  const { decimals, filter, sql, type } = measure
  return [
    ...isOneOf(measureTypes, type) ? [] : [`measure "${name}" has the type "${type}", not ${measureTypes.join(", ")}`],
    ...type !== "count" && sql === undefined ? [`measure "${name}" needs sql`] : [],
    ...sql !== undefined && isBlank(sql) ? [`sql of measure "${name}" is empty`] : [],
    ...filter !== undefined && isBlank(filter) ? [`filter of measure "${name}" is empty`] : [],
    ...decimals !== undefined && (!Number.isInteger(decimals) || decimals < 0 || decimals > 6)
      ? [`decimals of measure "${name}" are not a whole number from 0 to 6`]
      : []
  ]
}

const flawsOfJoin = ({ on, table, type }: Join): ReadonlyArray<string> => [
  ...tableName.test(table) ? [] : [`joined table "${table}" is not the plain name of a table`],
  ...isOneOf(["left", "inner"], type) ? [] : [`the join of "${table}" has the type "${type}", not left or inner`],
  ...isBlank(on) ? [`the join of "${table}" has no condition`] : []
]

/** A filter without the caller's id would show all rows to everyone. */
const flawsOfRule = ({ filter, role }: ScopeRule): ReadonlyArray<string> =>
  !isOneOf(["vendor", "customer"], role)
    ? [`a scope rule is for "${role}", not vendor or customer`]
    : new RegExp(`(?<!:):${role}Id\\b`).test(filter)
    ? []
    : [`the scope rule for ${role} does not name :${role}Id`]

const flawsOf = (model: AnalyticsModel): ReadonlyArray<string> => {
  const { dimensions, joins = [], measures, name, parent, scopeRules = [], segments = {}, table } = model
  const names = [measures, dimensions, segments].flatMap((members) => Object.keys(members))
  const tables = [table, ...joins.map((join) => join.table)]
  return [
    ...memberName.test(name) ? [] : ["its name is not letters, digits and underscores, beginning with a letter"],
    ...[table, parent?.table ?? table, parent?.column ?? table].filter((one) => !tableName.test(one))
      .map((one) => `"${one}" is not the plain name of a table or column`),
    ...Object.keys(measures).length === 0 ? ["it has no measures"] : [],
    ...names.filter((one) => !memberName.test(one)).map((one) => `"${one}" is not a name for a member`),
    ...[...new Set(names.filter((one, n) => names.indexOf(one) !== n))].map((one) => `"${one}" is named twice`),
    ...tables.some((one, n) => tables.indexOf(one) !== n) ? ["a table is joined twice"] : [],
    ...Object.entries(measures).flatMap(([one, measure]) => flawsOfMeasure(one, measure)),
    ...Object.entries(dimensions).flatMap(([one, { sql, type }]) => [
      ...isOneOf(dimensionTypes, type)
        ? []
        : [`dimension "${one}" has the type "${type}", not ${dimensionTypes.join(", ")}`],
      ...isBlank(sql) ? [`dimension "${one}" needs sql`] : []
    ]),
    ...Object.entries(segments).filter(([, { sql }]) => isBlank(sql)).map(([one]) => `segment "${one}" needs sql`),
    ...joins.flatMap(flawsOfJoin),
    ...scopeRules.flatMap(flawsOfRule)
  ]
}

const flawsAmong = (model: AnalyticsModel, all: ReadonlyArray<AnalyticsModel>): ReadonlyArray<string> => [
  ...all.filter(({ name }) => name === model.name).length > 1 ? ["another model has this name"] : [],
  ...(model.joins ?? []).flatMap(({ model: named, table }) =>
    named === undefined || all.some((one) => one.name === named && one.table === table)
      ? []
      : [`the join of "${table}" names the model "${named}", which there is not over this table`]
  )
]

/** Errors of models, one line each; any stops the startup. */
export const modelFlaws = (models: ReadonlyArray<AnalyticsModel>): ReadonlyArray<string> =>
  models.flatMap((model) =>
    [...flawsOf(model), ...flawsAmong(model, models)].map((flaw) => `analytics model "${model.name}": ${flaw}`)
  )

export type Scope =
  | { readonly _tag: "All" }
  | { readonly _tag: "Vendor"; readonly vendorId: string }
  | { readonly _tag: "Customer" }

/** Permission to see all models and rows. */
export const readsAll = "analytics:read"

const seesAll: ReadonlySet<string> = new Set(["owner", "admin", "staff", "ai_agent"])

/**
 * Undefined for a caller who sees nothing. API keys need the permission: a key may have less than its role (contract,
 * platform §11).
 */
export const scopeOf = (actor: Actor): Scope | undefined => {
  if (holds(actor, readsAll)) return { _tag: "All" }
  if (!isSignedIn(actor)) return undefined
  if (seesAll.has(actor.role)) return { _tag: "All" }
  if (actor.vendorId !== null) return { _tag: "Vendor", vendorId: actor.vendorId }
  return actor.role === "customer" ? { _tag: "Customer" } : undefined
}

const roleOf = { Vendor: "vendor", Customer: "customer" } as const

export const rulesFor = (model: AnalyticsModel, scope: Scope): ReadonlyArray<ScopeRule> | undefined => {
  if (scope._tag === "All") return []
  const own = (model.scopeRules ?? []).filter(({ role }) => role === roleOf[scope._tag])
  return own.length === 0 ? undefined : own
}
