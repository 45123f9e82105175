import { Schema } from "effect"

/** A rejected field: dotted path, expected value, and a machine-readable code (contract §0.1). */
export const Issue = Schema.Struct({ path: Schema.String, message: Schema.String, code: Schema.String })
export type Issue = typeof Issue.Type

/** Limits of an error, per field and in total. Sizes are bytes of JSON. */
const maxIssues = 50
const maxPath = 300
const maxMessage = 1_200
const maxReportedIssues = 3_700

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

/** Truncates a text to the limit; keys of objects can be of any length. */
const cut = (text: string, maximum: number): string => {
  if (text.length * 6 <= maximum || bytesOf(text) <= maximum) return text
  let kept = text.slice(0, maximum)
  while (bytesOf(kept) > maximum) kept = kept.slice(0, kept.length >> 1)
  return `${kept.toWellFormed()}…`
}

/** A sentence that begins with its field is not headed by it again. */
const lineOf = ({ message, path }: Issue): string =>
  path === "" || message.startsWith(`${path} `) ? message : `${path}: ${message}`

/** The issues that fit into a response of 4 kB, at least the first one: an error must cost less than its request. */
const tellable = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> => {
  const recorded: Array<Issue> = []
  let bytes = 0
  for (const { code, message, path } of issues.slice(0, maxIssues)) {
    const issue = { path: cut(path, maxPath), message: cut(message, maxMessage), code }
    // Each issue appears twice: in the list, and in the message.
    bytes += bytesOf(issue) + bytesOf(lineOf(issue))
    if (bytes > maxReportedIssues && recorded.length > 0) break
    recorded.push(issue)
  }
  return recorded
}

const body = <const Code extends string>(code: Code) => ({
  error: Schema.Struct({ code: Schema.Literal(code), message: Schema.String })
})

/*
 * The errors that clients can receive (spec §7). The class has its HTTP status as an annotation, so a domain rule fails
 * with it and no layer translates it. `_tag` is a class property and not a schema field: it serves `catchTag` and never
 * reaches the wire.
 */

/** 400: the body is not JSON. */
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(body("BAD_REQUEST"), { httpApiStatus: 400 }) {
  readonly _tag = "BadRequest"
  static of = (message: string) => new BadRequest({ error: { code: "BAD_REQUEST", message } })
}

/** 401: the route needs credentials and the request has none. */
export class Unauthorized
  extends Schema.Error<Unauthorized>("Unauthorized")(body("UNAUTHORIZED"), { httpApiStatus: 401 })
{
  readonly _tag = "Unauthorized"
  static of = (message = "Authentication required.") => new Unauthorized({ error: { code: "UNAUTHORIZED", message } })
}

/** 403: the actor is authenticated and lacks the permission. */
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(body("FORBIDDEN"), { httpApiStatus: 403 }) {
  readonly _tag: "Forbidden" | `Forbidden/${string}` = "Forbidden"
  static of = (message: string) => new Forbidden({ error: { code: "FORBIDDEN", message } })
}

/** 403: a member of a role that requires a second factor has not set one up (contract, platform §3). */
export class TwoFactorRequired
  extends Schema.Error<TwoFactorRequired>("TwoFactorRequired")(body("TWO_FACTOR_REQUIRED"), { httpApiStatus: 403 })
{
  readonly _tag = "TwoFactorRequired"
  static of = () =>
    new TwoFactorRequired({
      error: { code: "TWO_FACTOR_REQUIRED", message: "Your role needs a second factor. Set one up at /api/auth." }
    })
}

/** 403: a change that another site may have triggered in a visitor's browser (contract, platform §1.4). */
export class OriginRejected
  extends Schema.Error<OriginRejected>("OriginRejected")(body("CSRF_ORIGIN_REJECTED"), { httpApiStatus: 403 })
{
  readonly _tag = "OriginRejected"
  static of = () =>
    new OriginRejected({
      error: { code: "CSRF_ORIGIN_REJECTED", message: "This request does not come from a trusted origin." }
    })
}

/** 404: no such record in the organization of the request. Records of other organizations read the same. */
export class NotFound extends Schema.Error<NotFound>("NotFound")(body("NOT_FOUND"), { httpApiStatus: 404 }) {
  readonly _tag: "NotFound" | `NotFound/${string}` = "NotFound"
  static of = (message = "Not found.") => new NotFound({ error: { code: "NOT_FOUND", message } })
}

/** 409: the state of the store conflicts, for example a duplicate slug. */
export class Conflict extends Schema.Error<Conflict>("Conflict")(body("CONFLICT"), { httpApiStatus: 409 }) {
  readonly _tag: "Conflict" | `Conflict/${string}` = "Conflict"
  static of = (message: string) => new Conflict({ error: { code: "CONFLICT", message } })
}

/** 413: the body exceeds the limit of the route. */
export class PayloadTooLarge
  extends Schema.Error<PayloadTooLarge>("PayloadTooLarge")(body("PAYLOAD_TOO_LARGE"), { httpApiStatus: 413 })
{
  readonly _tag = "PayloadTooLarge"
  static of = (message: string) => new PayloadTooLarge({ error: { code: "PAYLOAD_TOO_LARGE", message } })
}

/** 415: the body has a content type that the route does not read. */
export class UnsupportedMediaType
  extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(body("UNSUPPORTED_MEDIA_TYPE"), {
    httpApiStatus: 415
  })
{
  readonly _tag = "UnsupportedMediaType"
  static of = (message: string) => new UnsupportedMediaType({ error: { code: "UNSUPPORTED_MEDIA_TYPE", message } })
}

/** 416: the requested range is outside of the file; the response has its length. */
export class RangeNotSatisfiable
  extends Schema.Error<RangeNotSatisfiable>("RangeNotSatisfiable")(body("RANGE_NOT_SATISFIABLE"), {
    httpApiStatus: 416
  })
{
  readonly _tag = "RangeNotSatisfiable"
}

/** 501: the deployment has no file storage (contract §10; the code is in lower case there). */
export class StorageNotSupported
  extends Schema.Error<StorageNotSupported>("StorageNotSupported")(body("storage_not_supported"), {
    httpApiStatus: 501
  })
{
  readonly _tag = "StorageNotSupported"
  static of = () =>
    new StorageNotSupported({
      error: { code: "storage_not_supported", message: "This deployment has no storage for files." }
    })
}

/** 422: input that the schema or a domain rule rejects; `details.issues` names the fields. */
export class ValidationFailed extends Schema.Error<ValidationFailed>("ValidationFailed")({
  error: Schema.Struct({
    code: Schema.Literal("VALIDATION_FAILED"),
    message: Schema.String,
    details: Schema.Struct({ issues: Schema.Array(Issue) })
  })
}, { httpApiStatus: 422 }) {
  readonly _tag: "ValidationFailed" | `ValidationFailed/${string}` = "ValidationFailed"
  /** Keeps the issues that fit; the message is `path: text` joined by `; `. */
  static issues = (issues: ReadonlyArray<Issue>) => {
    const recorded = tellable(issues)
    return new ValidationFailed({
      error: { code: "VALIDATION_FAILED", message: recorded.map(lineOf).join("; "), details: { issues: recorded } }
    })
  }
  /** One rejected field; `path` is dotted, empty for the request as such. */
  static of = (path: string, message: string, code = "invalid") => ValidationFailed.issues([{ path, message, code }])
}

/** 422: the status machine has no such transition (contract §4.1). */
export class InvalidTransition
  extends Schema.Error<InvalidTransition>("InvalidTransition")(body("INVALID_TRANSITION"), { httpApiStatus: 422 })
{
  readonly _tag = "InvalidTransition"
  static of = (message: string) => new InvalidTransition({ error: { code: "INVALID_TRANSITION", message } })
}

/** 422: the checkout failed and was rolled back (spec §7, contract §3.6). */
export class CheckoutFailed
  extends Schema.Error<CheckoutFailed>("CheckoutFailed")(body("CHECKOUT_FAILED"), { httpApiStatus: 422 })
{
  readonly _tag = "CheckoutFailed"
  static of = (message: string) => new CheckoutFailed({ error: { code: "CHECKOUT_FAILED", message } })
}

/** 429: the caller exceeded their request limit; `Retry-After` says when they may retry (spec §8). */
export class TooManyRequests
  extends Schema.Error<TooManyRequests>("TooManyRequests")(body("TOO_MANY_REQUESTS"), { httpApiStatus: 429 })
{
  readonly _tag = "TooManyRequests"
  static of = () =>
    new TooManyRequests({ error: { code: "TOO_MANY_REQUESTS", message: "Too many requests, please try again later." } })
}

/** 503: the service is busy; the same request may be sent again after `Retry-After` seconds. */
export class Unavailable
  extends Schema.Error<Unavailable>("Unavailable")(body("SERVICE_UNAVAILABLE"), { httpApiStatus: 503 })
{
  readonly _tag = "Unavailable"
  static of = (message = "The service is busy. Try again shortly.") =>
    new Unavailable({ error: { code: "SERVICE_UNAVAILABLE", message } })
}

/** 503: the organization of the request cannot be resolved (contract, platform §6). */
export class OrgResolutionFailed
  extends Schema.Error<OrgResolutionFailed>("OrgResolutionFailed")(body("ORG_RESOLUTION_FAILED"), {
    httpApiStatus: 503
  })
{
  readonly _tag = "OrgResolutionFailed"
  static of = () =>
    new OrgResolutionFailed({
      error: { code: "ORG_RESOLUTION_FAILED", message: "The organization of this request could not be found." }
    })
}

/** 409 with `Retry-After`: an earlier request with the same Idempotency-Key is still running. */
export class StillRunning extends Schema.Error<StillRunning>("StillRunning")(body("CONFLICT"), { httpApiStatus: 409 }) {
  readonly _tag = "StillRunning"
  static of = () =>
    new StillRunning({
      error: { code: "CONFLICT", message: "A request with this Idempotency-Key is still running. Try again shortly." }
    })
}
