import { Context, Effect, Layer, type Types } from "effect"
import type { HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiEndpoint, HttpApiError, HttpApiMiddleware } from "effect/http-api"
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
} from "../../domain/platform/errors/ApiErrors.ts"
import { everyIssue, issuesOf } from "../../domain/platform/text/Issues.ts"
import { fieldHandling } from "./FieldHandling.ts"

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

/** What the library says of a body that is no JSON. */
const malformedJson = "Expected a valid JSON body"

/** An answer that its schema cannot encode is a defect of ours (500); all else is the client's error. */
const recorded = (
  error: HttpApiError.HttpApiSchemaError | Types.unhandled
): Effect.Effect<never, BadRequest | ValidationFailed | Types.unhandled> => {
  if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
  const issues = issuesOf(error.cause)
  return error.kind === "Payload" && issues[0]?.message === malformedJson
    ? Effect.fail(BadRequest.of("The body of the request must be JSON."))
    : Effect.fail(ValidationFailed.issues(issues))
}

/** Names the content types of an endpoint where a request has another one. */
const namingTypes = ({ payload }: HttpApiEndpoint.Top) => {
  const types = [...payload.keys()].join(", ").replace(/, ([^,]*)$/, " or $1")
  return (response: HttpServerResponse.HttpServerResponse) =>
    response.status === 415
      ? Effect.fail(UnsupportedMediaType.of(`The content type is not supported; send ${types}.`))
      : Effect.succeed(response)
}

/** `Errors` around the decoding of a request, whose body and unknown fields are looked at before. */
export const errorsLayer = Layer.succeed(
  Errors,
  (handler, { endpoint }) => {
    const answer = fieldHandling(endpoint)(Effect.catch(handler, recorded))
    return endpoint.payload.size === 0 ? answer : Effect.flatMap(answer, namingTypes(endpoint))
  }
)

/**
 * An annotation of groups. Every refused field of a request is reported; answers are encoded by compiled code, which `errors` would
 * rule out, and without checks, since records passed them when they came in.
 */
export const parseOptions = Context.make(HttpApi.ParseOptions, everyIssue).pipe(
  Context.add(HttpApi.SuccessParseOptions, { disableChecks: true })
)
