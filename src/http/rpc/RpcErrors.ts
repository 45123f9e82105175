import { Schema, SchemaGetter } from "effect"
import {
  CheckoutFailed,
  Conflict,
  Forbidden,
  InvalidTransition,
  NotFound,
  OrgResolutionFailed,
  StillRunning,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized,
  Unavailable,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"

/**
 * An error of the API as calls carry it: with its tag, because over HTTP the status tells apart what has the same body
 * (`Conflict` and `StillRunning`), and a call has none.
 */
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

/** 404: another organization's record reads the same. */
export const notFound = tagged("NotFound", NotFound)
/** 409: the state of the store conflicts. */
export const conflict = tagged("Conflict", Conflict)
/** 422: a rule of the domain or the schema of the call refuses what was sent; its issues name the fields. */
export const invalid = tagged("ValidationFailed", ValidationFailed)
/** 422: the order cannot make this change of status. */
export const noTransition = tagged("InvalidTransition", InvalidTransition)
/** 422: nothing of the checkout is left behind. */
export const notCheckedOut = tagged("CheckoutFailed", CheckoutFailed)
/** 503: the same call may be made again. */
export const unavailable = tagged("Unavailable", Unavailable)
/** 403: the caller is known and may not do this. */
export const forbidden = tagged("Forbidden", Forbidden)
/** 401: no key, or one that opens nothing. */
export const unauthorized = tagged("Unauthorized", Unauthorized)
/** 409: a call with the same Idempotency-Key has not ended. */
export const stillRunning = tagged("StillRunning", StillRunning)

/** What any call may be refused with before or around its own work. */
export const refusals = Schema.Union([
  unauthorized,
  forbidden,
  invalid,
  conflict,
  stillRunning,
  unavailable,
  tagged("TooManyRequests", TooManyRequests),
  tagged("TwoFactorRequired", TwoFactorRequired),
  tagged("OrgResolutionFailed", OrgResolutionFailed)
])
/** See the schema of the same name. */
export type Refusal = typeof refusals.Type
