import { Effect, type Schema, SchemaIssue } from "effect"
import { HttpApi, HttpApiMiddleware } from "effect/http-api"
import {
  BadRequest,
  CheckoutFailed,
  Conflict,
  Forbidden,
  InvalidTransition,
  type Issue,
  NotFound,
  PayloadTooLarge,
  StillRunning,
  Unauthorized,
  Unavailable,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"

/**
 * Declares every error class on the endpoints of a group, so that handlers may fail with any of them and the document
 * lists them, and turns whatever a schema refuses into the specification's envelope (contract §0.1).
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
    ValidationFailed,
    InvalidTransition,
    CheckoutFailed,
    Unavailable
  ]
}) {}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const pathOf = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined): string =>
  (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")

/** The refused fields of what a schema would not take. */
export const issuesOf = ({ issue: refused }: Pick<Schema.SchemaError, "issue">): ReadonlyArray<Issue> =>
  format(refused).issues.map((issue) => ({ path: pathOf(issue.path), message: issue.message, code: "invalid" }))

const malformedJson = "Expected a valid JSON body"

/** Answer that our own schema could not encode is a defect of ours (500); all else is the client's to mend. */
export const errorsLayer = HttpApiMiddleware.layerSchemaErrorTransform(Errors, (error) => {
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
  const issues = issuesOf(error.cause)
  return error.kind === "Payload" && issues[0]?.message === malformedJson
    ? Effect.fail(BadRequest.of("Malformed JSON in request body."))
    : Effect.fail(ValidationFailed.issues(issues))
})

/** Report every refused field of a request and not only the first one: annotate groups with it. */
export const allIssues = { errors: "all" } as const

/** The annotation key that `allIssues` belongs to. */
export const ParseOptions = HttpApi.ParseOptions
