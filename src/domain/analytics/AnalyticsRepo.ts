import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Unavailable, ValidationFailed } from "../errors/ApiErrors.ts"
import { AnalyticsSettings } from "./AnalyticsSettings.ts"
import { type Reach, statementOf } from "./AnalyticsStatementRepo.ts"
import type { QueryPlan } from "./QueryPlan.ts"

/**
 * The client for queries: read-only, with a separate time limit and few connections, so that reports do not take the
 * connections of orders. Tests and tools run without it.
 */
export class AnalyticsSql
  extends Context.Service<AnalyticsSql, SqlClient.SqlClient>()("stoa/domain/analytics/AnalyticsSql")
{}

const tooSlow = Unavailable.of("The query takes too long. Ask for a shorter time or for fewer groups.")

const hasTimedOut = ({ reason }: SqlError.SqlError): boolean => reason._tag === "StatementTimeoutError"

/** A number beyond the exact range of JSON clients is an error and never rounded: it may be an amount of money. */
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

/** Reads the rows of queries over the client for queries, or the default client without one. */
export class AnalyticsRepo extends Context.Service<AnalyticsRepo>()("stoa/domain/analytics/AnalyticsRepo", {
  make: Effect.gen(function*() {
    const { timeoutMs } = yield* AnalyticsSettings
    const sql = Option.getOrElse(yield* Effect.serviceOption(AnalyticsSql), () => undefined) ??
      (yield* SqlClient.SqlClient)

    /** One statement. 503 at the deployment's time limit, 422 when a sum exceeds exact integers. */
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
