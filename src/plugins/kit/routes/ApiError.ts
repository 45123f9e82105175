import { Data, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiSchema } from "effect/http-api"
import { ErrorMessage } from "../../../domain/platform/errors/ApiErrors.ts"

/** What a client reads of an error of a plugin. */
export interface ErrorAnswer {
  /** 400 to 599. */
  readonly status: number
  /** For programs, in capitals: `PIN_LOCKED`. */
  readonly code: string
  /** For people. */
  readonly message: string
  /** What programs need beside the code. */
  readonly details?: Readonly<Record<string, string | number | boolean>> | undefined
  /** Seconds after which the same request may be sent again; sent as `Retry-After`. */
  readonly retryAfter?: number | undefined
}

/** An error that a route documents: a class of `apiError`, or its status and code. */
export type DocumentedError = Pick<ErrorAnswer, "status" | "code">

const codeForm = /^[A-Z][A-Z0-9_]*$/

/** Whether a status and a code are those of an error. */
export const isErrorAnswer = ({ code, status }: DocumentedError): boolean =>
  Number.isInteger(status) && status >= 400 && status <= 599 && codeForm.test(code)

/** An error of a plugin, with a status and a code that the service does not have: `ApiError.of({ status, code, message })`. */
export class ApiError extends Data.Error<ErrorAnswer> {
  readonly _tag: "ApiError" | `ApiError/${string}` = "ApiError"
  static of = (answer: ErrorAnswer): ApiError => new ApiError(answer)
}

/**
 * A class for one failure of a plugin, with its tag for `catchTag`; routes list it in `errors`.
 *
 *   class PinLocked extends apiError("PinLocked", { status: 429, code: "PIN_LOCKED", retryAfter: 30 }, "Too many PINs.") {}
 */
export const apiError = <const Tag extends string, Details extends ReadonlyArray<unknown> = []>(
  tag: Tag,
  answer: Omit<ErrorAnswer, "message" | "details">,
  sentence: string | ((...details: Details) => string),
  detailsOf?: (...details: Details) => NonNullable<ErrorAnswer["details"]>
) =>
  class extends ApiError {
    static readonly status = answer.status
    static readonly code = answer.code
    override readonly _tag = `ApiError/${tag}` as const
    constructor(...details: Details) {
      super({
        ...answer,
        message: typeof sentence === "string" ? sentence : sentence(...details),
        details: detailsOf?.(...details)
      })
    }
  }

const wrong = ({ code, status }: ApiError) =>
  new Error(`An error with the status ${status} and the code "${code}" cannot be answered.`)

/** The answer to a request that ends with an error of the plugin; one that cannot be answered is a defect. */
export const answerOf = (error: ApiError): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { code, details, message, retryAfter, status } = error
  if (!isErrorAnswer(error)) return Effect.die(wrong(error))
  const headers = retryAfter === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfter))) }
  return Effect.succeed(
    HttpServerResponse.jsonUnsafe({ error: { code, message, ...(details && { details }) } }, { status, headers })
  )
}

/** The error as the document shows it. */
export const errorSchema = ({ code, status }: DocumentedError) =>
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.Literal(code).annotate({ description: "Kind of the error, for programs." }),
      message: ErrorMessage
    }).annotate({ description: "Why the request was refused." })
  })
    .pipe(HttpApiSchema.status(status))
