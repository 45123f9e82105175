import { Context, Effect, Option, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

type Response = HttpServerResponse.HttpServerResponse

/** What a refused request would be answered, in the envelope. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  /** As of `VALIDATION_FAILED`: `{ issues }`. */
  readonly details?: unknown
}

/** What goes out in its place. */
export interface RefusalAnswer {
  /** Default: that of the refusal. */
  readonly status?: number
  /** Beside `Retry-After`, `Allow` and the like. Content type by default `application/json`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Gives refusals another shape than the envelope. */
export type RefusalShape = (refusal: Refusal) => RefusalAnswer

/** Annotation of an endpoint whose refusals have another shape than the envelope. */
export class OwnRefusals extends Context.Service<OwnRefusals, true>()("stoa/http/server/OwnRefusals") {}

interface ShapedRoute {
  readonly method: string
  readonly path: string
  /** Undefined: the envelope. */
  readonly failed?: RefusalShape | undefined
}

const wordsOf = (path: string): number => path.split("/").filter((part) => !part.startsWith(":")).length

/**
 * Finds the shape of a refusal: by the route that the router found, or by what was sent. Of two routes with one path, such as
 * `/a/:id` and `/a/list`, the one with more words is meant; of two methods the one that was sent.
 */
export const refusalShapes = (routes: ReadonlyArray<ShapedRoute>) => {
  const known = routes.map((route) => ({
    ...route,
    words: wordsOf(route.path),
    pattern: new RegExp(`^${route.path.replace(/[.]/g, "\\.").replace(/:[^/]+/g, "[^/]+")}/?$`)
  }))
  const shaped = known.filter(({ failed }) => failed !== undefined)
  return ({ method, url }: HttpServerRequest.HttpServerRequest, found: ShapedRoute | undefined) => {
    if (shaped.length === 0) return undefined
    const path = url.replace(/\?.*$/s, "")
    if (found !== undefined) {
      return shaped.find((one) => one.path === found.path && one.method === found.method)?.failed
    }
    if (!shaped.some(({ pattern }) => pattern.test(path))) return undefined
    const matching = known.filter(({ pattern }) => pattern.test(path))
    const most = Math.max(...matching.map(({ words }) => words))
    const meant = matching.filter(({ words }) => words === most)
    return (meant.find((one) => one.method === method) ?? meant[0])?.failed
  }
}

const envelopeOf = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, details: Schema.optional(Schema.Unknown) })
})))

/** The refusal in a shape. One that cannot be made is answered in the envelope. */
export const reshaped = (response: Response, shape: RefusalShape): Effect.Effect<Response> => {
  const { body, status } = response
  const sent = body._tag === "Uint8Array" ? envelopeOf(new TextDecoder().decode(body.body)) : Option.none()
  if (Option.isNone(sent)) return Effect.succeed(response)
  return Effect.try(() => {
    const answer = shape({ status, ...sent.value.error })
    const answered = answer.status ?? status
    if (!Number.isInteger(answered) || answered < 200 || answered > 599) throw new Error(`${answered} is no status.`)
    const { "content-length": _length, "content-type": _type, ...kept } = response.headers
    const headers = { ...kept, ...answer.headers }
    const options = { status: answered, headers, cookies: response.cookies }
    const contentType = answer.headers?.["content-type"] ?? "application/json"
    return answer.body === undefined
      ? HttpServerResponse.empty(options)
      : HttpServerResponse.text(answer.body, { ...options, contentType })
  }).pipe(
    Effect.catch((error) => Effect.as(Effect.logError("a plugin's shape of refusals failed", error), response))
  )
}
