import { Schema } from "effect"

/**
 * An error of `/api/auth`: the envelope of the service, with `code` and `message` beside it for clients of better-auth
 * (contract, platform §1.1).
 */
const failure = (status: number) =>
  Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    error: Schema.Struct({ code: Schema.String, message: Schema.String })
  }).annotate({ httpApiStatus: status })

/** The refusals that every route of `/api/auth` may give. */
export const authFailures = [
  failure(400),
  failure(401),
  failure(403),
  failure(404),
  failure(409),
  failure(415),
  failure(422),
  failure(429)
] as const
