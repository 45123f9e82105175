import { Context, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../http/Api.ts"
import { type Connection, credentialHeaders } from "./Credentials.ts"
import { againWhileBusy, type Retries } from "./Retries.ts"

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
