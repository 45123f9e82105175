import { Duration, Effect, Random } from "effect"
import { HttpClient, type HttpClientResponse } from "effect/http"

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
