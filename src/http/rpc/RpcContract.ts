import { Schema, SchemaGetter } from "effect"
import { RpcMiddleware } from "effect/rpc"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import * as Errors from "../../domain/errors/ApiErrors.ts"

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

/** What any call may fail with, as over HTTP (`ApiErrors.ts`). */
export const refusal = Schema.Union([
  tagged("Unauthorized", Errors.Unauthorized),
  tagged("Forbidden", Errors.Forbidden),
  tagged("ValidationFailed", Errors.ValidationFailed),
  tagged("Conflict", Errors.Conflict),
  tagged("StillRunning", Errors.StillRunning),
  tagged("Unavailable", Errors.Unavailable),
  tagged("TooManyRequests", Errors.TooManyRequests),
  tagged("TwoFactorRequired", Errors.TwoFactorRequired),
  tagged("OrgResolutionFailed", Errors.OrgResolutionFailed)
])
export type Refusal = typeof refusal.Type

/** What a call that names a record may fail with. Another organization's record is `NotFound`. */
export const failure = Schema.Union([refusal, tagged("NotFound", Errors.NotFound)])

export const checkoutFailed = tagged("CheckoutFailed", Errors.CheckoutFailed)
export const invalidTransition = tagged("InvalidTransition", Errors.InvalidTransition)

/**
 * The middleware of every call (docs/clients.md): API key, permission, rate limits, idempotency. A client without a key
 * does not compile.
 */
export class RpcAccess
  extends RpcMiddleware.Service<RpcAccess, { provides: CurrentActor }>()("stoa/http/rpc/RpcAccess", {
    error: refusal,
    requiredForClient: true
  })
{}

const whole = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** The page of a list: from 1, with at most 100 records. Default the first 20. */
export const pageFields = { page: Schema.optional(whole(1_000_000)), limit: Schema.optional(whole(100)) }

/** A page of records, and how many there are in all. */
export const pageOfRecords = <Record extends Schema.Top>(record: Record) =>
  Schema.Struct({ items: Schema.Array(record), page: Schema.Int, limit: Schema.Int, total: Schema.Int })
