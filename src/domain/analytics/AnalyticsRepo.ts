import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Unavailable } from "../platform/errors/ApiErrors.ts"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import { type AnalyticsModel, AnalyticsModels, InvalidModel, memberOf } from "../platform/modules/AnalyticsModel.ts"
import { type Reach, statementOf } from "./AnalyticsStatementRepo.ts"
import type { QueryPlan } from "./QueryPlan.ts"

class SumTooLarge extends invalid(
  "SumTooLarge",
  "measures",
  (member: string) => `measures has a result that is too large for a number: ${member}. Ask for smaller groups.`,
  "too_large"
) {}

export interface AnalyticsLimits {
  /** Milliseconds per query, including the wait for a connection; then 503. */
  readonly timeoutMs: number
  readonly connections: number
}

export const defaultAnalytics: AnalyticsLimits = { timeoutMs: 10_000, connections: 2 }

export class AnalyticsSettings
  extends Context.Service<AnalyticsSettings, AnalyticsLimits>()("stoa/domain/analytics/AnalyticsSettings")
{
  static readonly layerOf = (limits: AnalyticsLimits) => Layer.succeed(AnalyticsSettings, limits)
}

/** A read-only client with few connections, so that reports do not take those of orders. */
export class AnalyticsSql
  extends Context.Service<AnalyticsSql, SqlClient.SqlClient>()("stoa/domain/analytics/AnalyticsSql")
{}

const tooSlow = Unavailable.of("The query takes too long. Ask for a shorter time or for fewer groups.")

const hasTimedOut = ({ reason }: SqlError.SqlError): boolean => reason._tag === "StatementTimeoutError"

/** Fails beyond the exact range of JSON numbers: it may be an amount of money. */
const numberOf = (member: string, value: unknown): Effect.Effect<number | null, SumTooLarge> => {
  if (value === null) return Effect.succeed(null)
  const number = Number(value)
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER
    ? Effect.succeed(number)
    : Effect.fail(new SumTooLarge(member))
}

const textOrTime = (value: unknown): string | null =>
  value === null || value === undefined ? null : value instanceof Date ? value.toISOString() : String(value)

const hourText = (hour: Date, timeZone: DateTime.TimeZone): string => {
  const text = DateTime.formatIsoOffset(DateTime.makeZonedUnsafe(hour, { timeZone }))
  return `${text.slice(0, 16)}${text.endsWith("Z") ? "+00:00" : text.slice(-6)}`
}

const rowOf = Effect.fnUntraced(
  function*({ groups, measures, zone }: QueryPlan, row: Readonly<Record<string, unknown>>) {
    const out: Record<string, string | number | boolean | null> = {}
    for (const [n, { dimension, granularity, member }] of groups.entries()) {
      const value = row[`g${n}`]
      out[member] = granularity === undefined && dimension.type === "number"
        ? yield* numberOf(member, value)
        : granularity === "hour" && value instanceof Date
        ? hourText(value, zone)
        : typeof value === "boolean"
        ? value
        : textOrTime(value)
    }
    for (const [n, [member]] of measures.entries()) out[member] = yield* numberOf(member, row[`m${n}`])
    return out
  }
)

export class AnalyticsRepo extends Context.Service<AnalyticsRepo>()("stoa/domain/analytics/AnalyticsRepo", {
  make: Effect.gen(function*() {
    const { timeoutMs } = yield* AnalyticsSettings
    const sql = Option.getOrElse(yield* Effect.serviceOption(AnalyticsSql), () => undefined) ??
      (yield* SqlClient.SqlClient)

    /** 503 at the time limit, 422 when a sum exceeds exact integers. */
    const rows = Effect.fn("AnalyticsRepo.rows")(function*(plan: QueryPlan, reach: Reach) {
      // Not prepared: nearly every text is different, and each is planned for its values.
      const found = yield* statementOf(sql, plan, reach).unprepared.pipe(
        Effect.catchIf(hasTimedOut, () => Effect.fail(tooSlow)),
        Effect.timeoutOrElse({ duration: timeoutMs, orElse: () => Effect.fail(tooSlow) }),
        Effect.catchTag("SqlError", Effect.die)
      )
      return yield* Effect.forEach(found, (row) => rowOf(plan, row))
    })

    return { rows }
  })
}) {
  static readonly layer = Layer.effect(AnalyticsRepo, AnalyticsRepo.make)
}

const wholePlan = (model: AnalyticsModel): QueryPlan => ({
  model,
  zone: DateTime.zoneMakeNamedUnsafe("UTC"),
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

const wordsOf = ({ reason }: SqlError.SqlError): string => {
  const { cause } = reason
  return cause instanceof Error ? cause.message : reason.message ?? reason._tag
}

export class ModelCheck extends Context.Service<ModelCheck, true>()("stoa/domain/analytics/ModelCheck") {}

/** Plans a query of all members of each model outside of the core: a misspelt column stops the startup. */
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
        (error) =>
          new InvalidModel({ message: `The analytics model "${model.name}" cannot be read: ${wordsOf(error)}.` })
      )
    }, { discard: true })
    return ModelCheck.of(true)
  })
)
