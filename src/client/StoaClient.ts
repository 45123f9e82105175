import { Context, Duration, Effect, Layer, Random } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../http/Api.ts"
import { type Connection, credentialHeaders } from "./Credentials.ts"

/** How often and how long a client retries. */
export interface Retries {
  /** Maximum number of retries. */
  readonly times: number
  /** Maximum wait before a retry. If `Retry-After` is longer, the response is returned as it is. */
  readonly longestWait: Duration.Input
  /** Wait without a `Retry-After`; doubled with every retry. */
  readonly firstWait: Duration.Input
}

const usual: Retries = { times: 4, longestWait: "30 seconds", firstWait: "250 millis" }

/** Rejected before any work (429), or not accepted in time (503; a change carries an Idempotency-Key). */
const isBusy = ({ status }: HttpClientResponse.HttpClientResponse): boolean => status === 429 || status === 503

/** Seconds, or the date as HTTP writes it; undefined for anything else. */
export const waitOf = (retryAfter: string | undefined, now: number): number | undefined => {
  if (retryAfter === undefined || retryAfter === "") return undefined
  const seconds = Number(retryAfter)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000)
  const date = new Date(retryAfter).getTime()
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** A client that retries 429 and 503 responses after the time in `Retry-After`. */
export const againWhileBusy = (options: Partial<Retries>) => {
  const { firstWait, longestWait, times } = { ...usual, ...options }
  const longest = Duration.toMillis(longestWait)

  const pause = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse, tried: number) {
    const now = yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)
    const recorded = waitOf(response.headers["retry-after"], now)
    // Jitter, so that clients rejected together do not retry together.
    const own = Duration.toMillis(firstWait) * 2 ** tried * (yield* Random.nextBetween(0.75, 1.25))
    return recorded ?? Math.min(own, longest)
  })

  const sending = <E, R>(
    send: Effect.Effect<HttpClientResponse.HttpClientResponse, E, R>,
    tried: number
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, E, R> =>
    Effect.flatMap(send, (response) => {
      if (!isBusy(response) || tried >= times) return Effect.succeed(response)
      return Effect.flatMap(pause(response, tried), (wait) =>
        wait > longest ? Effect.succeed(response) : Effect.delay(sending(send, tried + 1), wait))
    })

  return <E, R>(client: HttpClient.HttpClient.With<E, R>): HttpClient.HttpClient.With<E, R> =>
    // Retries the prepared request with the same Idempotency-Key instead of preparing a new one.
    HttpClient.transform(client, (send) => sending(send, 0))
}

/** Options of a client besides its connection. */
export interface ClientOptions extends Connection {
  /** Retries of 429 and 503 responses (docs/clients.md). Default: four times; `false`: never. */
  readonly retries?: Partial<Retries> | false
}

/**
 * Headers of the requests of an effect: `x-cart-secret` for a guest, `idempotency-key` for a change the caller may have
 * to repeat.
 */
export const RequestHeaders = Context.Reference<Readonly<Record<string, string>>>("stoa/client/RequestHeaders", {
  defaultValue: () => ({})
})

/** The requests of an effect with these headers. */
export const withRequestHeaders =
  (headers: Readonly<Record<string, string>>) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.updateService(effect, RequestHeaders, (outer) => ({ ...outer, ...headers }))

const isUnsafe = (method: string): boolean => method !== "GET" && method !== "HEAD"

/**
 * A change carries an `Idempotency-Key` that stays the same in retries, so that a lost response does not repeat the
 * change.
 */
const prepared = (connection: Connection) => (request: HttpClientRequest.HttpClientRequest) =>
  Effect.map(RequestHeaders, (headers) => {
    const own = HttpClientRequest.setHeaders(request, { ...credentialHeaders(connection), ...headers })
    return isUnsafe(own.method) && own.headers["idempotency-key"] === undefined
      ? HttpClientRequest.setHeader(own, "idempotency-key", crypto.randomUUID())
      : own
  })

/** The client for these options; requests go through the `HttpClient` of the context. */
export const makeStoaClient = (options: ClientOptions) =>
  HttpApiClient.make(Api, {
    baseUrl: options.url,
    transformClient: (client) => {
      const sending = HttpClient.mapRequestEffect(client, prepared(options))
      return options.retries === false ? sending : againWhileBusy(options.retries ?? {})(sending)
    }
  })

/**
 * The HTTP API of a Stoa (docs/clients.md), derived from the same definition as its routes: `stoa.catalog.read({
 * params, query })` returns what the handler returned, without the envelope, and fails with the errors of the
 * specification as typed values.
 */
export class StoaClient
  extends Context.Service<StoaClient, Effect.Success<ReturnType<typeof makeStoaClient>>>()("stoa/client/StoaClient")
{
  static readonly layer = (options: ClientOptions): Layer.Layer<StoaClient> =>
    Layer.provide(Layer.effect(StoaClient, makeStoaClient(options)), FetchHttpClient.layer)
}
