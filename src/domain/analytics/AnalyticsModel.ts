/** How a measure adds up the rows of a group. `count` without `sql` counts rows, with it the rows that have a value. */
export const measureTypes = ["count", "countDistinct", "sum", "avg", "min", "max"] as const
export type MeasureType = typeof measureTypes[number]

/** What a dimension holds; it decides which operators of a filter apply (spec §4 Analytics). */
export const dimensionTypes = ["string", "number", "time", "boolean"] as const
export type DimensionType = typeof dimensionTypes[number]

/** A number of a group. All SQL of a model names columns with their table: `orders.grand_total`. */
export interface Measure {
  readonly type: MeasureType
  /** An expression over the model's tables; amounts are in minor units. Every type but `count` needs one. */
  readonly sql?: string
  /** A condition: only rows that meet it count. */
  readonly filter?: string
  /** Decimals of an `avg`. Default 0: averages of amounts are whole minor units (contract, platform §11). */
  readonly decimals?: number
}

/** What rows are grouped and filtered by. */
export interface Dimension {
  readonly sql: string
  readonly type: DimensionType
}

/** Another table whose columns the model's SQL names; like the model's own it must carry `organization_id`. */
export interface Join {
  readonly table: string
  readonly type: "left" | "inner"
  /** The condition, without the organization: that is added. */
  readonly on: string
  /** A model over this table whose dimensions queries of this model may use too. */
  readonly model?: string
}

/** A named condition that a query switches on. */
export interface Segment {
  readonly sql: string
}

/** Makes a model visible to vendors or to customers, in the rows that meet `filter`. */
export interface ScopeRule {
  readonly role: "vendor" | "customer"
  /** A condition that names `:vendorId` or `:customerId`, which stand for the caller's own. */
  readonly filter: string
}

/**
 * What can be asked of a table (spec §4 Analytics; contract, platform §11). The SQL in it is the deployment's or a
 * module's own and is taken as it stands; nothing that a client sends ever becomes a part of it. Rows of other
 * organizations are out of its reach: every table of it is read through the filter of the caller's.
 */
export interface AnalyticsModel {
  /** Begins with a letter; stands before the dot of `Model.member`. */
  readonly name: string
  readonly table: string
  readonly measures: Readonly<Record<string, Measure>>
  readonly dimensions: Readonly<Record<string, Dimension>>
  readonly joins?: ReadonlyArray<Join>
  readonly segments?: Readonly<Record<string, Segment>>
  /** Absent: the model is for whoever sees all models. */
  readonly scopeRules?: ReadonlyArray<ScopeRule>
}

/** Where a model comes from: a core module, a plugin, or `commerce.config.ts`. */
export const modelSources = ["builtin", "plugin", "custom-schema"] as const
export type ModelSource = typeof modelSources[number]

/** A name in the form that queries and rows have: `Orders.count`. */
export const memberOf = (model: AnalyticsModel, name: string): string => `${model.name}.${name}`

/** All names of one kind in that form. */
export const membersOf = (model: AnalyticsModel, members: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.keys(members).map((name) => memberOf(model, name))
