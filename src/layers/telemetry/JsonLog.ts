import { Context, type Fiber, Logger, Tracer } from "effect"
import { Headers, HttpServerRequest } from "effect/http"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { CurrentRequest, RequestId } from "../../http/server/RequestId.ts"
import { redactValue } from "./Redaction.ts"

type Fibre = Fiber.Fiber<unknown, unknown>

/** Headers whose values are secrets of the client. */
const secretHeaders = ["authorization", "cookie", "x-api-key", "x-cart-secret", "x-test-actor", "x-payment-signature"]

/** A short value may stand in a line for other reasons, and is no secret worth the name. */
const shortest = 6

/**
 * The parts of a header that would be of use to a thief: a line may hold the token without its scheme, and each cookie
 * without its name.
 */
const secretsIn = (value: string): ReadonlyArray<string> => {
  const parts = value.split(/[\s;,]+/)
  return [value, ...parts, ...parts.map((part) => part.slice(part.indexOf("=") + 1))]
}

/** Secrets that the request of this fiber came with; looked up only when a line is written. */
const knownSecrets = ({ context }: Fibre): ReadonlyArray<string> => {
  const request = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)
  const actor = Context.getOrUndefined(context, CurrentActor)
  const headers = request?.headers ?? Headers.empty
  return [actor?.cartSecret ?? "", ...secretHeaders.flatMap((name) => secretsIn(headers[name] ?? ""))]
    .filter((secret) => secret.length >= shortest)
    .toSorted((one, other) => other.length - one.length)
}

/** Where a line belongs: read from the fiber when it is written, so that a request that logs nothing pays nothing. */
const originOf = (fiber: Fibre) => {
  const actor = Context.getOrUndefined(fiber.context, CurrentActor)
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  const traced = span !== undefined && fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer
  return {
    requestId: fiber.getRef(RequestId) || actor?.requestId || undefined,
    organizationId: actor?.organizationId ?? fiber.getRef(CurrentRequest)?.organizationId,
    ...traced ? { traceId: span.traceId, spanId: span.spanId } : {}
  }
}

/**
 * One JSON object a line: level, time, message and cause, `requestId`, `organizationId` and `traceId` where the line
 * belongs to a request, and no secrets: those of the request itself, and what looks like one (docs/operations.md).
 */
export const jsonLog = Logger.withConsoleLog(
  Logger.make<unknown, string>((options) => {
    const { fiberId: _, ...line } = Logger.formatStructured.log(options)
    const known = knownSecrets(options.fiber)
    return JSON.stringify({ ...originOf(options.fiber), ...Object(redactValue(line, known)) })
  })
)
