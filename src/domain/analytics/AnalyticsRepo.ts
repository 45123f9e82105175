import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Unavailable, ValidationFailed } from "../errors/ApiErrors.ts"
import type { AnalyticsRow } from "./AnalyticsQuery.ts"
import { AnalyticsSettings } from "./AnalyticsSettings.ts"
import { type Reach, statementOf } from "./AnalyticsStatementRepo.ts"
import type { QueryPlan } from "./QueryPlan.ts"

/**
 * The client for queries: read-only, with a time limit of its own and few connections, so that nobody's report takes
 * those that orders need. Tests and tools do without it.
 */
export class AnalyticsSql
  extends Context.Service<AnalyticsSql, SqlClient.SqlClient>()("stoa/domain/analytics/AnalyticsSql")
{}

/** Reads the rows of queries. */
export class AnalyticsRepo extends Context.Service<AnalyticsRepo, {
  /** One statement. 503 when it takes longer than the deployment allows, 422 when a sum is no exact number any more. */
  readonly rows: (
    plan: QueryPlan,
    reach: Reach
  ) => Effect.Effect<ReadonlyArray<AnalyticsRow>, Unavailable | ValidationFailed>
}>()("stoa/domain/analytics/AnalyticsRepo") {}

const tooSlow = Unavailable.of("The query takes too long. Ask for a shorter time or for fewer groups.")

const hasTimedOut = ({ reason }: SqlError.SqlError): boolean => reason._tag === "StatementTimeoutError"

/** A number beyond what JSON clients hold exactly is told and never rounded: it may be an amount of money. */
const numberOf = (member: string, value: unknown): Effect.Effect<number | null, ValidationFailed> => {
  if (value === null) return Effect.succeed(null)
  const number = Number(value)
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER
    ? Effect.succeed(number)
    : Effect.fail(ValidationFailed.of("measures", `${member} exceeds 2^53 - 1. Ask for smaller groups.`, "too_large"))
}

const textOrTime = (value: unknown): string | null =>
  value === null || value === undefined ? null : value instanceof Date ? value.toISOString() : String(value)

const rowOf = Effect.fnUntraced(function*({ groups, measures }: QueryPlan, row: Readonly<Record<string, unknown>>) {
  const out: Record<string, string | number | boolean | null> = {}
  for (const [n, { dimension, granularity, member }] of groups.entries()) {
    const value = row[`g${n}`]
    out[member] = granularity === undefined && dimension.type === "number"
      ? yield* numberOf(member, value)
      : typeof value === "boolean"
      ? value
      : textOrTime(value)
  }
  for (const [n, [member]] of measures.entries()) out[member] = yield* numberOf(member, row[`m${n}`])
  return out
})

/** `AnalyticsRepo` over the client for queries, or that of the process where there is none. */
export const analyticsRepoLayer = Layer.effect(
  AnalyticsRepo,
  Effect.gen(function*() {
    const { timeoutMs } = yield* AnalyticsSettings
    const sql = Option.getOrElse(yield* Effect.serviceOption(AnalyticsSql), () => undefined) ??
      (yield* SqlClient.SqlClient)

    const rows = Effect.fn("AnalyticsRepo.rows")(function*(plan: QueryPlan, reach: Reach) {
      // Not prepared: there are as many texts as questions, and each is planned for the values it comes with.
      const found = yield* statementOf(sql, plan, reach).unprepared.pipe(
        Effect.catchIf(hasTimedOut, () => Effect.fail(tooSlow)),
        Effect.timeoutOrElse({ duration: timeoutMs, orElse: () => Effect.fail(tooSlow) }),
        Effect.catchTag("SqlError", Effect.die)
      )
      return yield* Effect.forEach(found, (row) => rowOf(plan, row))
    })

    return AnalyticsRepo.of({ rows })
  })
)
