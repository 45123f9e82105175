import { Context, Effect, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { wholeIssue } from "../../domain/platform/errors/ApiErrors.ts"
import { issuesOf } from "../../domain/platform/text/Issues.ts"

export class TakesForm extends Context.Service<TakesForm, true>()("stoa/http/auth/TakesForm") {}

export type DeclaredBody = Pick<HttpApiEndpoint.Top, "payload" | "query" | "annotations">

export class BodyRefused extends Schema.TaggedError<BodyRefused>()("BodyRefused", {
  status: Schema.Literals([400, 415]),
  code: Schema.String,
  message: Schema.String
}) {}

const malformed = new BodyRefused({
  status: 400,
  code: "BAD_REQUEST",
  message: "The body of the request must be JSON."
})

const json = "application/json"
const form = "application/x-www-form-urlencoded"

const kindOf = (contentType = ""): string => contentType.split(";", 1)[0]?.trim().toLowerCase() ?? ""

export const isForm = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  kindOf(headers["content-type"]) === form

/** A repeated name becomes a list, which no field accepts: two readers could pick different values. */
const ofForm = (text: string): unknown => {
  const sent = new URLSearchParams(text)
  return Object.fromEntries([...new Set(sent.keys())].map((name) => {
    const values = sent.getAll(name)
    return [name, values.length === 1 ? values[0] : values]
  }))
}

const ofJson = Schema.decodeEffect(Schema.fromJsonString(Schema.Unknown))

const read = (text: string, kind: string, takesForm: boolean): Effect.Effect<unknown, BodyRefused> => {
  if (text === "") return Effect.succeed({})
  if (kind === form && takesForm) return Effect.succeed(ofForm(text))
  if (kind === json) return Effect.mapError(ofJson(text), () => malformed)
  const allowed = takesForm ? `${form} or ${json}` : json
  const message = `The content type is not supported; send ${allowed}.`
  return Effect.fail(new BodyRefused({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE", message }))
}

const isNewPassword = (path: string): boolean => path === "password" || path === "newPassword"

const valueAt = (body: unknown, path: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, path) : undefined

/** Password lengths have special codes, for clients of better-auth. */
const misfit = (body: unknown, error: Schema.SchemaError): BodyRefused => {
  const { message, path } = wholeIssue(issuesOf(error)[0] ?? { path: "", message: "is not valid.", code: "invalid" })
  const value = isNewPassword(path) ? valueAt(body, path) : undefined
  if (typeof value === "string") {
    return value.length < 8
      ? new BodyRefused({
        status: 400,
        code: "PASSWORD_TOO_SHORT",
        message: "The password must have at least 8 characters."
      })
      : new BodyRefused({
        status: 400,
        code: "PASSWORD_TOO_LONG",
        message: "The password must have at most 128 characters."
      })
  }
  const field = path === "" ? "body" : `body.${path}`
  return new BodyRefused({ status: 400, code: "VALIDATION_ERROR", message: `[${field}] ${message}` })
}

const schemaOf = ({ payload }: DeclaredBody) => {
  const [schema] = [...payload.values()].flatMap(({ schemas }) => [...schemas])
  return Option.fromUndefinedOr(schema as Schema.Decoder<unknown> | undefined)
}

const bodyless = new Set(["GET", "HEAD"])

/** The body before it is decoded; undefined for what cannot be read. */
export const sentBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<unknown> =>
  Effect.flatMap(
    Effect.catch(request.text, Effect.die),
    (text) => Effect.orElseSucceed(read(text, kindOf(request.headers["content-type"]), true), () => undefined)
  )

/** The body as declared; better-auth and rate limits read nothing else. None for an endpoint without a body. */
export const declaredBody = (endpoint: DeclaredBody) => {
  const decode = Option.map(schemaOf(endpoint), (schema) => Schema.decodeUnknownEffect(schema, { reportInput: true }))
  const takesForm = Context.getOrUndefined(endpoint.annotations, TakesForm) === true
  return Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    if (Option.isNone(decode) || bodyless.has(request.method)) return Option.none<unknown>()
    const text = yield* Effect.catch(request.text, Effect.die)
    const body = yield* read(text, kindOf(request.headers["content-type"]), takesForm)
    return Option.some(yield* Effect.mapError(decode.value(body), (error) => misfit(body, error)))
  })
}
