import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type AnalyticsModel, memberOf } from "./AnalyticsModel.ts"
import { AnalyticsModels, InvalidModel } from "./AnalyticsModels.ts"
import { statementOf } from "./AnalyticsStatementRepo.ts"
import type { QueryPlan } from "./QueryPlan.ts"

/** A query with all members of a model. */
const wholePlan = (model: AnalyticsModel): QueryPlan => ({
  model,
  measures: Object.entries(model.measures).map(([name, measure]) => [memberOf(model, name), measure]),
  groups: Object.entries(model.dimensions).map(([name, dimension]) => ({
    member: memberOf(model, name),
    dimension,
    granularity: undefined
  })),
  ofRows: [],
  ofGroups: [],
  segments: Object.values(model.segments ?? {}).map(({ sql }) => sql),
  order: [],
  limit: 1
})

/** The database's message, `column orders.total does not exist`: names without values, for the operator. */
const wordsOf = ({ reason }: SqlError.SqlError): string => {
  const { cause } = reason
  return cause instanceof Error ? cause.message : reason.message ?? reason._tag
}

/** Marks that the models of plugins and of the deployment were checked against the tables. */
export class ModelCheck extends Context.Service<ModelCheck, true>()("stoa/domain/analytics/ModelCheck") {}

/**
 * Plans a query of all members of each model outside of the core, so that a misspelt column or a table without
 * `organization_id` stops the startup instead of failing the first query.
 */
export const modelCheckLayer = Layer.effect(
  ModelCheck,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const foreign = (yield* AnalyticsModels).filter(({ source }) => source !== "builtin")
    yield* Effect.forEach(foreign, ({ model }) => {
      const reach = { organizationId: "", rules: model.scopeRules ?? [], vendorId: null, customerId: null }
      const [text, parameters] = statementOf(sql, wholePlan(model), reach).compile()
      return Effect.mapError(
        sql.unsafe(`explain ${text}`, parameters).unprepared,
        (error) => new InvalidModel({ message: `analytics model "${model.name}": ${wordsOf(error)}.` })
      )
    }, { discard: true })
    return ModelCheck.of(true)
  })
)
