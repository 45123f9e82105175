import { Cause, Console, Context, type Fiber, Logger, Predicate, References, Tracer } from "effect"
import { Headers, HttpServerRequest } from "effect/http"
import { SqlError } from "effect/sql"
import { inspect, styleText } from "node:util"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { isTransient } from "../../domain/platform/errors/Transience.ts"
import { refusalOf } from "../../domain/platform/records/Constraints.ts"
import { CurrentRequest, RequestId } from "../../http/server/RequestId.ts"
import { redactValue } from "./Redaction.ts"

type Fibre = Fiber.Fiber<unknown, unknown>

const secretHeaders = ["authorization", "cookie", "x-api-key", "x-cart-secret", "x-test-actor", "x-payment-signature"]

const shortest = 6

/** A line may hold a token without its scheme, or a cookie without its name. */
const secretsIn = (value: string): ReadonlyArray<string> => {
  const parts = value.split(/[\s;,]+/)
  return [value, ...parts, ...parts.map((part) => part.slice(part.indexOf("=") + 1))]
}

const knownSecrets = ({ context }: Fibre): ReadonlyArray<string> => {
  const request = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)
  const actor = Context.getOrUndefined(context, CurrentActor)
  const headers = request?.headers ?? Headers.empty
  return [actor?.cartSecret ?? "", ...secretHeaders.flatMap((name) => secretsIn(headers[name] ?? ""))]
    .filter((secret) => secret.length >= shortest)
    .toSorted((one, other) => other.length - one.length)
}

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
 * One JSON object a line: level, time, message, cause, and `requestId`, `organizationId` and `traceId` of a request,
 * without secrets (docs/operations.md).
 */
export const jsonLog = Logger.withConsoleLog(
  Logger.make<unknown, string>((options) => {
    const { fiberId: _, ...line } = Logger.formatStructured.log(options)
    const known = knownSecrets(options.fiber)
    return JSON.stringify({ ...originOf(options.fiber), ...Object(redactValue(line, known)) })
  })
)

const ofLibraries = new Set(["package", "service", "module", "fiber", "runner"])

const isForMachines = (message: string): boolean => message.startsWith("Listening on: ")

const colors = { Fatal: "red", Error: "red", Warn: "yellow", Info: "green", Debug: "gray", Trace: "gray" } as const

const wordOf = (level: string): string => {
  const word = level.toLowerCase().padEnd(5)
  const color = level in colors ? colors[level as keyof typeof colors] : undefined
  return color === undefined || !process.stdout.isTTY ? word : styleText(color, word)
}

const textOf = (part: unknown): string => typeof part === "string" ? part : inspect(part, { depth: 4 })

const indented = (text: string): string => text.replaceAll("\n", "\n  ")

const timeOf = (date: Date): string => date.toTimeString().slice(0, 8)

export const prettyLog = Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
  const parts = (Array.isArray(message) ? message : [message]).map(textOf)
  if (logLevel === "Info" && isForMachines(parts[0] ?? "")) return
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
    .filter(([name]) => !ofLibraries.has(name)).map(([name, value]) => `${name}=${textOf(value)}`)
  const said = [...parts, ...annotations].join(" ")
  const why = cause.reasons.length === 0 ? "" : `\n${Cause.pretty(cause)}`
  fiber.getRef(Console.Console).log(indented(`${timeOf(date)} ${wordOf(logLevel)} ${said}${why}`))
})

/** Messages of the cluster about a slow database: each is handled, and logged again if it lasts. */
const expected: ReadonlyMap<unknown, string> = new Map([
  [
    "Shard lock storage is unhealthy",
    "The shards of this process are in doubt; they are acquired again once the database answers"
  ],
  ["Shard lock storage is still unhealthy", "The shards of this process are still in doubt"],
  ["Shard lock storage has recovered", "The database answers; the shards of this process are acquired again"],
  ["Could not acquire/release shards", "The shards of this process could not be taken or given back; trying again"],
  ["Could not release shards, retrying", "The shards of this process could not be given back; trying again"],
  ["No healthy runners available", "No runner was heard of for a while; this one goes on"]
])

const reasonOf = (error: unknown): string => {
  let deepest = error
  while (deepest instanceof Error && deepest.cause !== undefined) deepest = deepest.cause
  if (!(deepest instanceof Error)) return String(deepest)
  return deepest.message || deepest.name
}

/** A failure that the code knows: a typed one, or one that the database makes in a race or while it is away. */
const isKnown = (error: unknown): boolean => {
  if (error instanceof SqlError.SqlError) return isTransient(error) || refusalOf(error).state.startsWith("23")
  return Predicate.hasProperty(error, "_tag") && typeof error._tag === "string"
}

const isKnownReason = (reason: Cause.Reason<unknown>): boolean =>
  reason._tag === "Die" ? isKnown(reason.defect) : reason._tag === "Interrupt" || isKnown(reason.error)

/** Stack traces are for errors: what is known in a warning is one line, and so is what the cluster says of a slow database. */
export const calmly = <Output>(logger: Logger.Logger<unknown, Output>): Logger.Logger<unknown, Output> =>
  Logger.make((options) => {
    const { cause, logLevel, message } = options
    const [first, ...others] = Array.isArray(message) ? message : [message]
    const recorded = expected.get(first)
    if (recorded === undefined && ["Error", "Fatal"].includes(logLevel)) return logger.log(options)
    const parts = [recorded ?? first, ...others.map((part: unknown) => isKnown(part) ? reasonOf(part) : part)]
    const isBrief = recorded !== undefined || cause.reasons.every(isKnownReason)
    if (cause.reasons.length === 0 || !isBrief) {
      return logger.log({ ...options, message: parts.length === 1 ? parts[0] : parts })
    }
    const line = `${parts.map(String).join(" ")}: ${reasonOf(Cause.squash(cause))}`
    return logger.log({ ...options, message: line, cause: Cause.empty })
  })
