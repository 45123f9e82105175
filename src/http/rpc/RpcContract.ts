import { Context, Schema, SchemaGetter } from "effect"
import { RpcMiddleware } from "effect/rpc"
import { Access, type AccessRule } from "../../domain/access/AccessRule.ts"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import * as Errors from "../../domain/errors/ApiErrors.ts"
import { IdempotentChange, OwnIdempotency } from "../middleware/Idempotency.ts"
import { RouteRate } from "../server/RouteRate.ts"

/** Encodes an error with its tag: `Conflict` and `StillRunning` have the same body, and a call has no status. */
const tagged = <Refusal extends { readonly _tag: string }, Encoded>(
  tag: Refusal["_tag"],
  schema: Schema.Codec<Refusal, Encoded>
) =>
  Schema.Struct({ _tag: Schema.Literal(tag), refusal: schema }).pipe(
    Schema.decodeTo(Schema.toType(schema), {
      decode: SchemaGetter.transform(({ refusal }) => refusal),
      encode: SchemaGetter.transform((refusal) => ({ _tag: tag, refusal }))
    })
  )

/** The errors of calls, as over HTTP (`ApiErrors.ts`). Another organization's record is `notFound`. */
export const errors = {
  notFound: tagged("NotFound", Errors.NotFound),
  conflict: tagged("Conflict", Errors.Conflict),
  invalid: tagged("ValidationFailed", Errors.ValidationFailed),
  noTransition: tagged("InvalidTransition", Errors.InvalidTransition),
  notCheckedOut: tagged("CheckoutFailed", Errors.CheckoutFailed),
  unavailable: tagged("Unavailable", Errors.Unavailable),
  forbidden: tagged("Forbidden", Errors.Forbidden),
  unauthorized: tagged("Unauthorized", Errors.Unauthorized),
  stillRunning: tagged("StillRunning", Errors.StillRunning)
}

/** What the middleware may refuse any call with. */
const refusals = Schema.Union([
  errors.unauthorized,
  errors.forbidden,
  errors.invalid,
  errors.conflict,
  errors.stillRunning,
  errors.unavailable,
  tagged("TooManyRequests", Errors.TooManyRequests),
  tagged("TwoFactorRequired", Errors.TwoFactorRequired),
  tagged("OrgResolutionFailed", Errors.OrgResolutionFailed)
])
/** What the middleware may refuse any call with. */
export type Refusal = typeof refusals.Type

/**
 * The middleware of every call (docs/clients.md): API key, permission, rate limits, idempotency. A client without a key
 * does not compile.
 */
export class RpcAccess
  extends RpcMiddleware.Service<RpcAccess, { provides: CurrentActor }>()("stoa/http/rpc/RpcAccess", {
    error: refusals,
    requiredForClient: true
  })
{}

const whole = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** The page of a list: from 1, with at most 100 records. Default the first 20. */
export const pageFields = { page: Schema.optional(whole(1_000_000)), limit: Schema.optional(whole(100)) }

/** A page of records, and how many there are in all. */
export const pageOfRecords = <Record extends Schema.Top>(record: Record) =>
  Schema.Struct({ items: Schema.Array(record), page: Schema.Int, limit: Schema.Int, total: Schema.Int })

/** Annotation of a call that changes something: it takes an `idempotency-key`. */
export class Changes extends Context.Service<Changes, true>()("stoa/http/rpc/Changes") {}

interface Route {
  readonly method: string
  readonly annotations: Context.Context<never>
}

const kept = [Access, IdempotentChange, OwnIdempotency, RouteRate]

/** Takes access rule, rate limit and idempotency of a call from the route that does the same, so that they stay alike. */
export const likeRoutes =
  <Name extends string>(group: { readonly endpoints: Readonly<Record<Name, Route>> }) =>
  (name: Name): Context.Context<never> => {
    const { annotations, method } = group.endpoints[name]
    const taken = Context.makeUnsafe<never>(
      new Map([...annotations.mapUnsafe].filter(([key]) => kept.some((one) => one.key === key)))
    )
    return method === "GET" ? taken : Context.add(taken, Changes, true)
  }

/** Annotations of a change that no route makes: the permission it needs. */
export const changeBy = (rule: AccessRule): Context.Context<Access | Changes> =>
  Context.make(Access, rule).pipe(Context.add(Changes, true))
