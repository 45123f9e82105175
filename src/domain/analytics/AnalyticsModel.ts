/**
 * How a measure aggregates the rows of a group. `count` without `sql` counts rows, with it the rows that have a value.
 */
export const measureTypes = ["count", "countDistinct", "sum", "avg", "min", "max"] as const
export type MeasureType = typeof measureTypes[number]

/** The type of a dimension; it decides which filter operators apply (spec §4 Analytics). */
export const dimensionTypes = ["string", "number", "time", "boolean"] as const
export type DimensionType = typeof dimensionTypes[number]

/** A number per group. All SQL of a model qualifies columns with their table: `orders.grand_total`. */
export interface Measure {
  readonly type: MeasureType
  /** An expression over the model's tables; amounts are in minor units. Every type but `count` needs one. */
  readonly sql?: string
  /** A condition: only rows that meet it count. */
  readonly filter?: string
  /** Decimals of an `avg`. Default 0: averages of amounts are whole minor units (contract, platform §11). */
  readonly decimals?: number
}

/** An expression that rows are grouped and filtered by. */
export interface Dimension {
  readonly sql: string
  readonly type: DimensionType
}

/** Another table that the model's SQL uses; it must have a column `organization_id`. */
export interface Join {
  readonly table: string
  readonly type: "left" | "inner"
  /** The join condition without the organization, which is added. */
  readonly on: string
  /** The model of this table whose dimensions queries of this model may also use. */
  readonly model?: string
}

/** A named condition that a query can apply. */
export interface Segment {
  readonly sql: string
}

/** Makes a model visible to vendors or to customers, limited to the rows that meet `filter`. */
export interface ScopeRule {
  readonly role: "vendor" | "customer"
  /** A condition with `:vendorId` or `:customerId`, which stand for the caller's ids. */
  readonly filter: string
}

/**
 * The queryable members of a table (spec §4 Analytics; contract, platform §11). Its SQL comes from the deployment or a
 * module and is used verbatim; client input never becomes a part of it. Every table is read through the filter of the
 * caller's organization.
 */
export interface AnalyticsModel {
  /** Starts with a letter; the part before the dot in `Model.member`. */
  readonly name: string
  readonly table: string
  readonly measures: Readonly<Record<string, Measure>>
  readonly dimensions: Readonly<Record<string, Dimension>>
  readonly joins?: ReadonlyArray<Join>
  readonly segments?: Readonly<Record<string, Segment>>
  /** Absent: only callers who see all models see it. */
  readonly scopeRules?: ReadonlyArray<ScopeRule>
}

/** The source of a model: a core module, a plugin, or `commerce.config.ts`. */
export const modelSources = ["builtin", "plugin", "custom-schema"] as const
export type ModelSource = typeof modelSources[number]

/** A name as in queries and rows: `Orders.count`. */
export const memberOf = (model: AnalyticsModel, name: string): string => `${model.name}.${name}`

/** All names of one kind in that form. */
export const membersOf = (model: AnalyticsModel, members: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.keys(members).map((name) => memberOf(model, name))
