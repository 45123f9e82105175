import { Data, Effect, Random, Schema, type Scope, Stream } from "effect"
import { PluginContext, type PluginContextKey } from "../PluginContext.ts"
import { type BreakerOptions, circuitBreaker } from "./CircuitBreaker.ts"
import {
  type OutboundAnswer,
  OutboundFailed,
  type OutboundMessage,
  type OutboundRefused,
  type OutboundStream,
  type OutboundTransport
} from "./OutboundTransport.ts"

/** How another service is called. */
export interface OutboundOptions {
  /** Of the service, for errors: `erp`. */
  readonly name: string
  /**
   * Where the deployment says that the service is: `["https://erp.internal:8443"]`, from the options of the plugin. Any other
   * URL may only be one of the public internet, because somebody may have named it.
   */
  readonly origins?: ReadonlyArray<string>
  /**
   * Milliseconds of one try, from the look-up of the host to the end of the body; of a stream to its head, and between two
   * parts of its body. Default 10,000.
   */
  readonly timeout?: number
  /** How often a call that may be repeated is tried again. Default 2. */
  readonly retries?: number
  /** Milliseconds before the first of them, doubled with each. Default 200. */
  readonly delay?: number
  /** Default: after five failures in a row an origin is left alone for 30 seconds. Each origin is counted separately. */
  readonly breaker?: BreakerOptions
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes of an answer that are read at most; not of a stream. Default 1,000,000. */
  readonly maxBytes?: number
}

export interface OutboundRequest {
  /** Default GET, with a body POST. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** A text goes out as it is, anything else as JSON. */
  readonly body?: unknown
  /**
   * Sent as `Idempotency-Key`: the service does a request of this key once, so that a POST or PATCH may be repeated, too.
   * Keep it with what the call is for: a job that runs again has to send the same one.
   */
  readonly idempotencyKey?: string
}

/** An answer with a status from 300 on; redirects are not followed. */
export class OutboundRejected extends Data.TaggedError("OutboundRejected")<{
  readonly status: number
  readonly headers: OutboundAnswer["headers"]
  readonly body: string
  readonly message: string
}> {}

/** The origin has failed several times in a row and is left alone for now; nothing was sent. */
export class OutboundPaused extends Data.TaggedError("OutboundPaused")<{
  readonly retryAfterMs: number
  readonly message: string
}> {}

type TryError = OutboundFailed | OutboundRefused | OutboundRejected
export type OutboundError = OutboundPaused | TryError

/** A client for one other service. */
export interface Outbound {
  readonly request: (request: OutboundRequest) => Effect.Effect<OutboundAnswer, OutboundError>
  /** The same; the body has to be JSON of this schema. */
  readonly json: <A>(
    schema: Schema.Codec<A, unknown>,
    request: OutboundRequest
  ) => Effect.Effect<A, OutboundError | Schema.SchemaError>
  /** Answers with the head, and the body as it arrives, of any size. The connection ends with the scope. */
  readonly stream: (request: OutboundRequest) => Effect.Effect<OutboundStream, OutboundError, Scope.Scope>
}

/** A longer wait is the caller's to decide: `headers["retry-after"]` says it. */
const longestWaitMs = 10_000

const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE"])
const transient: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether the service is at fault, so that another try may end otherwise. */
const isFault = (error: TryError): boolean =>
  error._tag === "OutboundFailed" ? error.reason !== "tooLarge" : error._tag === "OutboundRejected" &&
    transient.has(error.status)

/** Milliseconds of `Retry-After`; 0 without one. */
const askedFor = (error: TryError): number => {
  const seconds = error._tag === "OutboundRejected" ? Number(error.headers["retry-after"] ?? 0) : 0
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : 0
}

const messageOf = (
  request: OutboundRequest,
  { headers: common = {}, origins = [] }: OutboundOptions
): OutboundMessage => {
  const { body, headers = {}, idempotencyKey, method = body === undefined ? "GET" : "POST", url } = request
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
  const origin = URL.canParse(url) ? new URL(url).origin : undefined
  return {
    method,
    url,
    text,
    isConfigured: origins.some((one) => new URL(one).origin === origin),
    headers: {
      "accept-encoding": "identity",
      "user-agent": "stoa",
      ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
      ...(text === undefined ? {} : { "content-length": Buffer.byteLength(text) }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      ...common,
      ...headers
    }
  }
}

const textOf = (body: OutboundStream["body"], limit: number) => {
  const tooLarge = new OutboundFailed({ reason: "tooLarge", message: `The answer has more than ${limit} bytes.` })
  let read = 0
  return body.pipe(
    Stream.mapEffect((part) => (read += part.length) > limit ? Effect.fail(tooLarge) : Effect.succeed(part)),
    Stream.runCollect,
    Effect.map((parts) => Buffer.concat(parts).toString("utf8"))
  )
}

/** The client over a way to send; `outbound` has that of the process. */
export const outboundOver = (send: OutboundTransport, options: OutboundOptions): Outbound => {
  const { delay = 200, maxBytes = 1_000_000, name, retries = 2, timeout = 10_000 } = options
  const guarded = circuitBreaker(
    options.breaker ?? { failures: 5, pauseMs: 30_000 },
    (retryAfterMs) =>
      new OutboundPaused({ retryAfterMs, message: `${name} has failed several times and is left alone for now.` })
  )
  const late = new OutboundFailed({ reason: "timeout", message: `No answer within ${timeout} ms.` })
  const inTime = Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(late) })

  const whole = (message: OutboundMessage) =>
    Effect.gen(function*() {
      const { body, ...head } = yield* send(message)
      const answer = { ...head, body: yield* textOf(body, maxBytes) }
      if (answer.status < 300) return answer
      return yield* new OutboundRejected({ ...answer, message: `${name} answered ${answer.status}.` })
    }).pipe(Effect.scoped, inTime)

  const streamed = Effect.fnUntraced(function*(message: OutboundMessage) {
    const { body, ...head } = yield* send(message)
    if (head.status < 300) {
      return { ...head, body: Stream.timeoutOrElse(body, { duration: timeout, orElse: () => Stream.fail(late) }) }
    }
    const text = yield* textOf(body, maxBytes)
    return yield* new OutboundRejected({ ...head, body: text, message: `${name} answered ${head.status}.` })
  }, inTime)

  const repeating = Effect.fn("Outbound.request")(
    function*<A, R>(sent: OutboundRequest, attempt: (message: OutboundMessage) => Effect.Effect<A, TryError, R>) {
      const message = messageOf(sent, options)
      const origin = URL.canParse(sent.url) ? new URL(sent.url).origin : ""
      const isRepeatable = repeatable.has(message.method) || sent.idempotencyKey !== undefined
      for (let done = 0;; done++) {
        const result = yield* Effect.result(guarded(origin, attempt(message), isFault))
        if (result._tag === "Success") return result.success
        const error = result.failure
        if (error._tag === "OutboundPaused" || !isRepeatable || done >= retries || !isFault(error)) return yield* error
        // Calls that failed together do not come back together.
        const wait = Math.max(delay * 2 ** done * (0.5 + (yield* Random.next)), askedFor(error))
        if (wait > longestWaitMs) return yield* error
        yield* Effect.sleep(wait)
      }
    }
  )
  const request = (sent: OutboundRequest) => repeating(sent, whole)

  return {
    request,
    json: (schema, sent) => {
      const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
      const headers = { accept: "application/json", ...sent.headers }
      return Effect.flatMap(request({ ...sent, headers }), ({ body }) => decode(body))
    },
    stream: (sent) => repeating(sent, streamed)
  }
}

/**
 * A client for calls to another service, for the layer of a plugin: `const erp = yield* outbound({ name: "erp" })`. It tries
 * again what may be repeated, leaves a service alone that keeps failing, and calls no internal address that the deployment
 * has not configured. Make no calls in a transaction.
 */
export const outbound = (options: OutboundOptions): Effect.Effect<Outbound, never, PluginContextKey> =>
  Effect.map(PluginContext, ({ transport }) => outboundOver(transport, options))
