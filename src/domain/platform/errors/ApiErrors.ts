import { Schema } from "effect"

/** A rejected field: dotted path, sentence, code (contract §0.1). */
export const Issue = Schema.Struct({
  path: Schema.String.annotate({
    description: "The field, with dots between its parts.",
    examples: ["items.0.quantity"]
  }),
  message: Schema.String.annotate({ description: "Sentence about the problem, for people." }),
  code: Schema.String.annotate({ description: "The kind of the mistake, for programs." })
}).annotate({ identifier: "Issue" })
export type Issue = typeof Issue.Type

/** Sizes are bytes of JSON. */
const maxIssues = 50
const maxPath = 300
const maxMessage = 1_200
const maxReportedIssues = 3_700

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

const cut = (text: string, maximum: number): string => {
  if (text.length * 6 <= maximum || bytesOf(text) <= maximum) return text
  let kept = text.slice(0, maximum)
  while (bytesOf(kept) > maximum) kept = kept.slice(0, kept.length >> 1)
  return `${kept.toWellFormed()}…`
}

const withoutSubject = /^(?:must|cannot|is) /

/** Gives a message without a subject its field: `must be a number.` becomes `limit must be a number.` */
export const wholeIssue = (issue: Issue, subject = "The request"): Issue =>
  withoutSubject.test(issue.message)
    ? { ...issue, message: `${issue.path === "" ? subject : issue.path} ${issue.message}` }
    : issue

/** The same issue of another field. */
export const withPath = (issue: Issue, path: string): Issue => ({
  ...issue,
  path,
  message: issue.path !== "" && issue.message.startsWith(`${issue.path} `)
    ? `${path}${issue.message.slice(issue.path.length)}`
    : issue.message
})

/** Keeps issues up to 4 kB, at least one: an error must cost less than its request. */
const tellable = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> => {
  const recorded: Array<Issue> = []
  let bytes = 0
  for (const { code, message, path } of issues.slice(0, maxIssues).map((one) => wholeIssue(one))) {
    const issue = { path: cut(path, maxPath), message: cut(message, maxMessage), code }
    bytes += bytesOf(issue) + bytesOf(issue.message)
    if (bytes > maxReportedIssues && recorded.length > 0) break
    recorded.push(issue)
  }
  return recorded
}

export const ErrorMessage = Schema.String.annotate({ description: "Sentence for people." })
const errorCode = <const Code extends string>(code: Code) =>
  Schema.Literal(code).annotate({ description: "Kind of the error, for programs." })

const fieldsOf = <const Code extends string>(code: Code) => ({ code: errorCode(code), message: ErrorMessage })
const why = { description: "Reason why the request was refused." }

/** Fields of an error with a code and a sentence. */
export const body = <const Code extends string>(code: Code) => ({
  error: Schema.Struct(fieldsOf(code)).annotate(why)
})

/*
 * The errors that clients receive (spec §7). The HTTP status is an annotation of the class; `_tag` serves `catchTag`
 * and never reaches the wire.
 */

export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(body("BAD_REQUEST"), { httpApiStatus: 400 }) {
  readonly _tag = "BadRequest"
  static of = (message: string) => new BadRequest({ error: { code: "BAD_REQUEST", message } })
}

export class Unauthorized
  extends Schema.Error<Unauthorized>("Unauthorized")(body("UNAUTHORIZED"), { httpApiStatus: 401 })
{
  readonly _tag = "Unauthorized"
  static of = (message = "Authentication required.") => new Unauthorized({ error: { code: "UNAUTHORIZED", message } })
}

export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(body("FORBIDDEN"), { httpApiStatus: 403 }) {
  readonly _tag: "Forbidden" | `Forbidden/${string}` = "Forbidden"
  static of = (message: string) => new Forbidden({ error: { code: "FORBIDDEN", message } })
}

/** 403: the member's role requires a second factor (contract, platform §3). */
export class TwoFactorRequired
  extends Schema.Error<TwoFactorRequired>("TwoFactorRequired")(body("TWO_FACTOR_REQUIRED"), { httpApiStatus: 403 })
{
  readonly _tag = "TwoFactorRequired"
  static of = () =>
    new TwoFactorRequired({
      error: { code: "TWO_FACTOR_REQUIRED", message: "Your role needs a second factor. Set one up at /api/auth." }
    })
}

/** 403: another site may have triggered the change (contract, platform §1.4). */
export class OriginRejected
  extends Schema.Error<OriginRejected>("OriginRejected")(body("CSRF_ORIGIN_REJECTED"), { httpApiStatus: 403 })
{
  readonly _tag = "OriginRejected"
  static of = () =>
    new OriginRejected({
      error: { code: "CSRF_ORIGIN_REJECTED", message: "This request does not come from a trusted origin." }
    })
}

export class NotFound extends Schema.Error<NotFound>("NotFound")(body("NOT_FOUND"), { httpApiStatus: 404 }) {
  readonly _tag: "NotFound" | `NotFound/${string}` = "NotFound"
  static of = (message = "Not found.") => new NotFound({ error: { code: "NOT_FOUND", message } })
}

const ConflictDetails = Schema.Struct({
  reason: Schema.String.annotate({
    description: "A stable word for shop fronts to translate.",
    examples: ["cart_held", "code_taken"]
  }),
  retryable: Schema.Boolean.annotate({ description: "The same request may succeed a moment later." })
}).annotate({ identifier: "ConflictDetails", description: "Why, for programs." })

const conflictBody = {
  error: Schema.Struct({ ...fieldsOf("CONFLICT"), details: Schema.optionalKey(ConflictDetails) }).annotate(why)
}

export class Conflict extends Schema.Error<Conflict>("Conflict")(conflictBody, { httpApiStatus: 409 }) {
  readonly _tag: "Conflict" | `Conflict/${string}` = "Conflict"
  static of = (message: string) => new Conflict({ error: { code: "CONFLICT", message } })
}

export class PayloadTooLarge
  extends Schema.Error<PayloadTooLarge>("PayloadTooLarge")(body("PAYLOAD_TOO_LARGE"), { httpApiStatus: 413 })
{
  readonly _tag = "PayloadTooLarge"
  static of = (message: string) => new PayloadTooLarge({ error: { code: "PAYLOAD_TOO_LARGE", message } })
}

export class UnsupportedMediaType
  extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(body("UNSUPPORTED_MEDIA_TYPE"), {
    httpApiStatus: 415
  })
{
  readonly _tag = "UnsupportedMediaType"
  static of = (message: string) => new UnsupportedMediaType({ error: { code: "UNSUPPORTED_MEDIA_TYPE", message } })
}

export class RangeNotSatisfiable
  extends Schema.Error<RangeNotSatisfiable>("RangeNotSatisfiable")(body("RANGE_NOT_SATISFIABLE"), {
    httpApiStatus: 416
  })
{
  readonly _tag = "RangeNotSatisfiable"
}

/** 501: no file storage (contract §10; the code is in lower case there). */
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

/** 422; `details.issues` names the fields. */
export class ValidationFailed extends Schema.Error<ValidationFailed>("ValidationFailed")({
  error: Schema.Struct({
    code: errorCode("VALIDATION_FAILED"),
    message: ErrorMessage,
    details: Schema.Struct({
      issues: Schema.Array(Issue).annotate({ description: "Problems by field." })
    })
      .annotate({ description: "For forms." })
  }).annotate({ description: "Reason why the request was refused." })
}, { httpApiStatus: 422 }) {
  readonly _tag: "ValidationFailed" | `ValidationFailed/${string}` = "ValidationFailed"
  static issues = (issues: ReadonlyArray<Issue>) => {
    const recorded = tellable(issues)
    return new ValidationFailed({
      error: {
        code: "VALIDATION_FAILED",
        message: recorded.map(({ message }) => message).join(" "),
        details: { issues: recorded }
      }
    })
  }
  static of = (path: string, message: string, code = "invalid") => ValidationFailed.issues([{ path, message, code }])
}

export class InvalidTransition
  extends Schema.Error<InvalidTransition>("InvalidTransition")(body("INVALID_TRANSITION"), { httpApiStatus: 422 })
{
  readonly _tag = "InvalidTransition"
  static of = (message: string) => new InvalidTransition({ error: { code: "INVALID_TRANSITION", message } })
}

const RefusedLine = Schema.Struct({
  lineItemId: Schema.NullOr(Schema.String).annotate({
    description: "The item of the cart; null for goods in no cart."
  }),
  variantId: Schema.NullOr(Schema.String),
  entityId: Schema.String,
  available: Schema.NullOr(Schema.Int).annotate({ description: "Units that can be bought now." })
})

const RefusalDetails = Schema.Struct({
  reason: Schema.String.annotate({
    description: "A stable word for shop fronts to translate.",
    examples: ["insufficient_stock", "payment_declined", "missing"]
  }),
  retryable: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "The same request may succeed a moment later." })
  ),
  field: Schema.optionalKey(Schema.NullOr(Schema.String).annotate({ description: "The field of the request." })),
  lines: Schema.optionalKey(Schema.Array(RefusedLine).annotate({ description: "The items that it is about." })),
  decline: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({ description: "Answer of the payment provider." })
  ),
  missing: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "Facts about the buyer that the store needs before it sells." })
  )
})

/** Details of a refusal; those that are left out have their defaults. */
type Refusal = Partial<typeof RefusalDetails.Type>

/** Another try may succeed when a service or a plugin works again. */
export const outOfService = { reason: "out_of_service", retryable: true } as const

/** 422: the checkout was rolled back (spec §7, contract §3.6). */
export class CheckoutFailed extends Schema.Error<CheckoutFailed>("CheckoutFailed")({
  error: Schema.Struct({
    code: errorCode("CHECKOUT_FAILED"),
    message: ErrorMessage,
    details: Schema.optionalKey(RefusalDetails.annotate({ description: "Reason, where a shop front can help." }))
  }).annotate({ description: "Reason why the checkout failed." })
}, { httpApiStatus: 422 }) {
  readonly _tag = "CheckoutFailed"
  static of = (message: string, refusal: Refusal = {}) =>
    new CheckoutFailed({
      error: {
        code: "CHECKOUT_FAILED",
        message,
        details: { reason: "refused", retryable: false, field: null, lines: [], decline: null, ...refusal }
      }
    })
}

/** 429 with `Retry-After` (spec §8). */
export class TooManyRequests
  extends Schema.Error<TooManyRequests>("TooManyRequests")(body("TOO_MANY_REQUESTS"), { httpApiStatus: 429 })
{
  readonly _tag = "TooManyRequests"
  static of = () =>
    new TooManyRequests({ error: { code: "TOO_MANY_REQUESTS", message: "Too many requests, please try again later." } })
}

/** 503 with `Retry-After`, in seconds. */
export class Unavailable
  extends Schema.Error<Unavailable>("Unavailable")(body("SERVICE_UNAVAILABLE"), { httpApiStatus: 503 })
{
  readonly _tag = "Unavailable"
  static of = (message = "The service is busy. Try again shortly.") =>
    new Unavailable({ error: { code: "SERVICE_UNAVAILABLE", message } })
}

/** 503: the organization cannot be resolved (contract, platform §6). */
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

/** 409 with `Retry-After`: the first request with the same key still runs. */
export class StillRunning extends Schema.Error<StillRunning>("StillRunning")(conflictBody, { httpApiStatus: 409 }) {
  readonly _tag = "StillRunning"
  static of = () =>
    new StillRunning({
      error: {
        code: "CONFLICT",
        message: "A request with this Idempotency-Key is still running. Try again shortly.",
        details: { reason: "still_running", retryable: true }
      }
    })
}
