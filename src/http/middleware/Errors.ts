import { Effect, Layer, type Types } from "effect"
import { HttpApi, HttpApiError, HttpApiMiddleware } from "effect/http-api"
import {
  BadRequest,
  CheckoutFailed,
  Conflict,
  Forbidden,
  InvalidTransition,
  NotFound,
  PayloadTooLarge,
  StillRunning,
  Unauthorized,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"
import { issuesOf } from "../../domain/text/Issues.ts"
import { bodyCheckOf } from "./BodyCheck.ts"

/**
 * Declares every error class on the endpoints of a group, so that handlers may fail with any of them and the document
 * lists them, and turns what a schema refuses into the specification's envelope (contract §0.1).
 */
export class Errors extends HttpApiMiddleware.Service<Errors>()("stoa/http/Errors", {
  error: [
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    Conflict,
    StillRunning,
    PayloadTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
    InvalidTransition,
    CheckoutFailed,
    Unavailable
  ]
}) {}

const malformedJson = "Expected a valid JSON body"

/** An answer that its schema cannot encode is a defect of ours (500); all else is the client's error. */
const recorded = (
  error: HttpApiError.HttpApiSchemaError | Types.unhandled
): Effect.Effect<never, BadRequest | ValidationFailed | Types.unhandled> => {
  if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
  const issues = issuesOf(error.cause)
  return error.kind === "Payload" && issues[0]?.message === malformedJson
    ? Effect.fail(BadRequest.of("Malformed JSON in request body."))
    : Effect.fail(ValidationFailed.issues(issues))
}

/** `Errors` around the decoding of a request, whose body is checked before. */
export const errorsLayer = Layer.succeed(
  Errors,
  (handler, { endpoint }) => Effect.andThen(bodyCheckOf(endpoint), Effect.catch(handler, recorded))
)

/** Report every refused field of a request and not only the first one: annotate groups with it. */
export const allIssues = { errors: "all" } as const

/** The annotation key that `allIssues` belongs to. */
export const ParseOptions = HttpApi.ParseOptions
