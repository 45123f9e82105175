import { Context, Duration, Effect, Layer, Random } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../http/Api.ts"
import { type Connection, credentialHeaders } from "./Credentials.ts"

export interface Retries {
  readonly times: number
  /** Maximum wait; a response with a longer `Retry-After` is returned. */
  readonly longestWait: Duration.Input
  readonly firstWait: Duration.Input
}

const usual: Retries = { times: 4, longestWait: "30 seconds", firstWait: "250 millis" }

/** Rejected before any work (429), or not accepted in time (503; a change carries an Idempotency-Key). */
const isBusy = ({ status }: HttpClientResponse.HttpClientResponse): boolean => status === 429 || status === 503

export const waitOf = (retryAfter: string | undefined, now: number): number | undefined => {
  if (retryAfter === undefined || retryAfter === "") return undefined
  const seconds = Number(retryAfter)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000)
  const date = new Date(retryAfter).getTime()
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Retries 429 and 503 responses after `Retry-After`. */
export const againWhileBusy = (options: Partial<Retries>) => {
  const { firstWait, longestWait, times } = { ...usual, ...options }
  const longest = Duration.toMillis(longestWait)

  const pause = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse, tried: number) {
    const now = yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)
    const recorded = waitOf(response.headers["retry-after"], now)
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
    // Retries the prepared request: the Idempotency-Key stays the same.
    HttpClient.transform(client, (send) => sending(send, 0))
}

export interface ClientOptions extends Connection {
  /** Default: four times; `false`: never. */
  readonly retries?: Partial<Retries> | false
}

/** Headers of an effect's requests, such as `x-cart-secret`. */
export const RequestHeaders = Context.Reference<Readonly<Record<string, string>>>("stoa/client/RequestHeaders", {
  defaultValue: () => ({})
})

export const withRequestHeaders =
  (headers: Readonly<Record<string, string>>) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.updateService(effect, RequestHeaders, (outer) => ({ ...outer, ...headers }))

const isUnsafe = (method: string): boolean => method !== "GET" && method !== "HEAD"

const prepared = (connection: Connection) => (request: HttpClientRequest.HttpClientRequest) =>
  Effect.map(RequestHeaders, (headers) => {
    const own = HttpClientRequest.setHeaders(request, {
      prefer: "handling=strict",
      ...credentialHeaders(connection),
      ...headers
    })
    return isUnsafe(own.method) && own.headers["idempotency-key"] === undefined
      ? HttpClientRequest.setHeader(own, "idempotency-key", crypto.randomUUID())
      : own
  })

export const makeStoaClient = (options: ClientOptions) =>
  HttpApiClient.make(Api, {
    baseUrl: options.url,
    transformClient: (client) => {
      const sending = HttpClient.mapRequestEffect(client, prepared(options))
      return options.retries === false ? sending : againWhileBusy(options.retries ?? {})(sending)
    }
  })

/**
 * The HTTP API of a Stoa (docs/clients.md): `stoa.catalog.read({ params, query })` returns the handler's result without
 * the envelope and fails with the specification's errors.
 */
export class StoaClient
  extends Context.Service<StoaClient, Effect.Success<ReturnType<typeof makeStoaClient>>>()("stoa/client/StoaClient")
{
  static readonly layer = (options: ClientOptions): Layer.Layer<StoaClient> =>
    Layer.provide(Layer.effect(StoaClient, makeStoaClient(options)), FetchHttpClient.layer)
}
