import {
  type AnalyticsModel,
  dimensionTypes,
  type Join,
  type Measure,
  measureTypes,
  type ScopeRule
} from "./AnalyticsModel.ts"

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

/** A rule whose filter has no parameter of the caller would show all rows to everyone. */
const flawsOfRule = ({ filter, role }: ScopeRule): ReadonlyArray<string> =>
  !isOneOf(["vendor", "customer"], role)
    ? [`a scope rule is for "${role}", not vendor or customer`]
    : new RegExp(`(?<!:):${role}Id\\b`).test(filter)
    ? []
    : [`the scope rule for ${role} does not name :${role}Id`]

/** Errors within a model. */
const flawsOf = (model: AnalyticsModel): ReadonlyArray<string> => {
  const { dimensions, joins = [], measures, name, scopeRules = [], segments = {}, table } = model
  const names = [measures, dimensions, segments].flatMap((members) => Object.keys(members))
  const tables = [table, ...joins.map((join) => join.table)]
  return [
    ...memberName.test(name) ? [] : ["its name is not letters, digits and underscores, beginning with a letter"],
    ...tableName.test(table) ? [] : [`"${table}" is not the plain name of a table`],
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

/** Errors between models: duplicate names, and joins with dimensions of a missing model. */
const flawsAmong = (model: AnalyticsModel, all: ReadonlyArray<AnalyticsModel>): ReadonlyArray<string> => [
  ...all.filter(({ name }) => name === model.name).length > 1 ? ["another model has this name"] : [],
  ...(model.joins ?? []).flatMap(({ model: named, table }) =>
    named === undefined || all.some((one) => one.name === named && one.table === table)
      ? []
      : [`the join of "${table}" names the model "${named}", which there is not over this table`]
  )
]

/** All errors of a list of models, one readable line each; any of them stops the startup. */
export const modelFlaws = (models: ReadonlyArray<AnalyticsModel>): ReadonlyArray<string> =>
  models.flatMap((model) =>
    [...flawsOf(model), ...flawsAmong(model, models)].map((flaw) => `analytics model "${model.name}": ${flaw}`)
  )
