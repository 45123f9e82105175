import { Effect, Schedule, Schema } from "effect"
import { ReplayFailed } from "./ReplayFailed.ts"

/** A request to the service. `key` makes a repetition harmless: the service answers it as it answered the first one. */
export interface ShopRequest {
  readonly method: "GET" | "POST" | "PATCH"
  readonly path: string
  readonly body?: unknown
  readonly key?: string
  /** Statuses besides 2xx that are an answer here and not a failure. */
  readonly expected?: ReadonlyArray<number>
}

export interface ShopAnswer {
  readonly status: number
  readonly body: unknown
}

/** Sends requests to the running service. */
export type Shop = (request: ShopRequest) => Effect.Effect<ShopAnswer, ReplayFailed>

interface Again {
  readonly _tag: "Again"
  readonly message: string
}

/** No usable response: no server, too busy, or the first request with this key is still running. */
const isPassing = (response: Response): boolean =>
  response.status === 503 || response.status === 429 || response.headers.has("retry-after")

const refusal = ({ method, path }: ShopRequest, status: number, body: unknown) =>
  new ReplayFailed({ message: `${method} ${path} was answered ${status}: ${JSON.stringify(body)}` })

/** A client of the service at an address, with an API key; it repeats for half a minute what was not answered. */
export const shopAt = (baseUrl: string, apiKey: string): Shop =>
  Effect.fnUntraced(function*(request: ShopRequest) {
    const { body, expected = [], key, method, path } = request
    const again = (message: string): Again => ({ _tag: "Again", message })
    const send = Effect.gen(function*() {
      const response = yield* Effect.tryPromise({
        try: (signal) =>
          fetch(`${baseUrl}${path}`, {
            method,
            signal,
            headers: {
              "x-api-key": apiKey,
              ...(body === undefined ? {} : { "content-type": "application/json" }),
              ...(key === undefined ? {} : { "idempotency-key": key })
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          }),
        catch: () => again(`No answer from ${baseUrl}.`)
      })
      const answer = yield* Effect.tryPromise({
        try: (): Promise<unknown> => response.json(),
        catch: () => again(`${method} ${path} was answered ${response.status} without JSON.`)
      })
      if (isPassing(response)) return yield* Effect.fail(again(`${method} ${path} was answered ${response.status}.`))
      return { status: response.status, body: answer }
    })
    const answer = yield* send.pipe(
      Effect.retry({ schedule: Schedule.spaced("1 second"), times: 30 }),
      Effect.mapError(({ message }) => new ReplayFailed({ message }))
    )
    const fine = answer.status < 300 || expected.includes(answer.status)
    return fine ? answer : yield* refusal(request, answer.status, answer.body)
  })

/** The body of an answer as a schema reads it. */
export const reading = <A>(schema: Schema.Codec<A, unknown>) => ({ body }: ShopAnswer) =>
  Effect.mapError(
    Schema.decodeUnknownEffect(schema)(body),
    ({ message }) => new ReplayFailed({ message: `The service answered in an unknown shape: ${message}` })
  )

const Pages = Schema.Struct({ meta: Schema.Struct({ pagination: Schema.Struct({ totalPages: Schema.Int }) }) })

/** The pages of a list route; `data` says what a page holds. */
export const readAll = Effect.fnUntraced(function*<A>(shop: Shop, path: string, data: Schema.Codec<A, unknown>) {
  const Page = Schema.Struct({ data })
  const pages: Array<A> = []
  for (let page = 1, last = 1; page <= last; page++) {
    const answer = yield* shop({
      method: "GET",
      path: `${path}${path.includes("?") ? "&" : "?"}limit=100&page=${page}`
    })
    pages.push((yield* reading(Page)(answer)).data)
    last = (yield* reading(Pages)(answer)).meta.pagination.totalPages
  }
  return pages
})
