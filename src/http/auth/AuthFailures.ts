import { Schema } from "effect"
import { Issue, NotFound, PayloadTooLarge, TooManyRequests, Unavailable } from "../../domain/errors/ApiErrors.ts"

/**
 * An error of `/api/auth`: the envelope of the service, with `code` and `message` beside it for clients of better-auth
 * (contract, platform §1.1). better-auth may add fields.
 */
const failure = (status: number) =>
  Schema.StructWithRest(
    Schema.Struct({
      code: Schema.String,
      message: Schema.String,
      error: Schema.Struct({
        code: Schema.String,
        message: Schema.String,
        details: Schema.optional(Schema.Struct({ issues: Schema.Array(Issue) }))
      })
    }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  ).annotate({ httpApiStatus: status })

/** Errors of every route of `/api/auth`; those of the HTTP server have the envelope alone. */
export const authFailures = [
  failure(400),
  failure(401),
  failure(403),
  failure(404),
  failure(409),
  failure(415),
  failure(422),
  failure(429),
  NotFound,
  PayloadTooLarge,
  TooManyRequests,
  Unavailable
] as const
