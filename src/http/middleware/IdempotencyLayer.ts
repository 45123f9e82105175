import { Context, Effect, Layer, Option, Schema } from "effect"
import { Cookies, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { StillRunning } from "../../domain/errors/ApiErrors.ts"
import { BodyDigest, BodyKey, Idempotency, NeverRepeated, OwnIdempotency } from "./Idempotency.ts"
import { fingerprint, IdempotentExecution, type Kept, keyInBody, sentKey } from "./IdempotentExecution.ts"

/** An answer as it is stored for a retry with its key; cookies in the form of `Set-Cookie`. */
const StoredAnswer = Schema.fromJsonString(
  Schema.Struct({
    body: Schema.String,
    headers: Schema.Record(Schema.String, Schema.String),
    cookies: Schema.Array(Schema.String)
  })
)
const encode = Schema.encodeSync(StoredAnswer)
const decode = Schema.decodeSync(StoredAnswer)

/** The text of an answer that a retry gets: body, cookies and the route's headers. The edge adds the others. */
const stored = ({ body, cookies, headers }: HttpServerResponse.HttpServerResponse): string =>
  encode({
    body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "",
    headers: { ...headers },
    cookies: Cookies.toSetCookieHeaders(cookies)
  })

/** The answer of such a text. */
const givenAgain = (status: number, text: string): HttpServerResponse.HttpServerResponse => {
  const { body, cookies, headers } = decode(text)
  const { "content-length": _length, "content-type": contentType = "application/json", ...others } = headers
  return HttpServerResponse.text(body, { status, contentType, headers: others }).pipe(
    HttpServerResponse.mergeCookies(Cookies.fromSetCookie(cookies))
  )
}

/** A client may ask again for a running request after a second (ARCHITECTURE invariant 4). */
const withRetryAfter = (error: unknown) =>
  error instanceof StillRunning
    ? HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", "1"))
    )
    : Effect.void

const hasNoKey = (annotations: Context.Context<never>): boolean =>
  Context.getOrUndefined(annotations, OwnIdempotency) === true ||
  Context.getOrUndefined(annotations, NeverRepeated) === true

const keep = (response: HttpServerResponse.HttpServerResponse): Kept => {
  if (response.status < 300) return { _tag: "Store", status: response.status, body: stored(response) }
  return response.status < 500 ? { _tag: "Release" } : { _tag: "Doubt" }
}

/** `Idempotency` over the keys in the database. */
export const idempotencyLayer = Layer.effect(
  Idempotency,
  Effect.map(IdempotentExecution, ({ once }) =>
    Idempotency.of((handler, { endpoint }) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (request.method === "GET" || hasNoKey(endpoint.annotations)) return yield* handler
        const inHeader = yield* sentKey(request)
        const inBody = Context.getOrUndefined(endpoint.annotations, BodyKey) === true
        if (inHeader === undefined && !inBody) return yield* handler
        // The body is read once and cached by the request, so the handler's decoder sees it again. A body that cannot
        // be read (too large, cut off) is a defect here exactly as it is there, and the edge answers it.
        const digest = yield* Effect.serviceOption(BodyDigest)
        const body = Option.isSome(digest) ? digest.value : yield* Effect.catch(request.text, Effect.die)
        const key = inHeader ?? keyInBody(body)
        if (key === undefined) return yield* handler
        const print = fingerprint(request.method, request.url, body)
        return yield* once(
          { key, shown: request, print, annotations: endpoint.annotations, keep, again: givenAgain },
          handler
        )
      }).pipe(Effect.tapError(withRetryAfter))
    ))
)
