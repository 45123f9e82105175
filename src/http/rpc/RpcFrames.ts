import { Data, Effect, Schema, SchemaGetter, type SchemaIssue, SchemaParser } from "effect"
import { RpcSerialization } from "effect/rpc"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { issuesOf } from "../../domain/text/Issues.ts"
import { valueCheckOf } from "../middleware/BodyCheck.ts"
import { StoaRpcs } from "./StoaRpcs.ts"

/** What a client sent is no message of the protocol. */
export class NoMessage extends Data.TaggedError("NoMessage")<{ readonly message: string }> {}

/** Largest message in bytes, as of every request's body (spec §8). */
export const maxMessageBytes = 1_048_576

/** Messages of one request over HTTP. */
export const maxBatch = 100

/** Headers of one call, and what they hold together. */
const maxHeaders = 50
const maxHeaderText = 16_384

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isId = (value: unknown): boolean => typeof value === "number" || (typeof value === "string" && value.length <= 64)

const isHeaders = (value: unknown): boolean => {
  if (!Array.isArray(value) || value.length > maxHeaders) return false
  let text = 0
  for (const header of value) {
    if (!Array.isArray(header) || header.length !== 2) return false
    for (const part of header) {
      if (typeof part !== "string") return false
      text += part.length
    }
  }
  return text <= maxHeaderText
}

/** A trace is continued when it is named in full. */
const isTrace = ({ sampled, spanId, traceId }: Readonly<Record<string, unknown>>): boolean =>
  spanId === undefined
    ? traceId === undefined
    : typeof spanId === "string" && typeof traceId === "string" && typeof sampled === "boolean" &&
      spanId.length <= 32 && traceId.length <= 64

const isMessage = (frame: unknown): boolean => {
  if (!isObject(frame)) return false
  switch (frame["_tag"]) {
    case "Request":
      // Whoever wants no answer would not hear that he was refused.
      return isId(frame["id"]) && typeof frame["tag"] === "string" && isHeaders(frame["headers"]) && isTrace(frame) &&
        frame["isNotification"] === undefined && frame["discard"] === undefined
    case "Ack":
    case "Interrupt":
      return isId(frame["requestId"])
    default:
      return frame["_tag"] === "Ping" || frame["_tag"] === "Eof"
  }
}

/** What a call sent instead of what its schema wants; the gate answers it, so it never reaches a handler's services. */
export class RefusedPayload {
  readonly refusal: ValidationFailed
  constructor(refusal: ValidationFailed) {
    this.refusal = refusal
  }
}

/**
 * The codec of a payload, whose decoder does not fail: Effect answers a payload that does not fit with a defect, before it
 * is known who sent it, and ours shall be the typed `ValidationFailed` with its fields, as over HTTP. The value in its place
 * is no `Type` of the schema, which is why nothing but the gate in front of all handlers may look at it.
 */
const unfailing = <S extends Schema.Top>(
  schema: S
): Schema.Codec<S["Type"], unknown, S["DecodingServices"], S["EncodingServices"]> => {
  const codec = RpcSerialization.json.codecFor(schema)
  const decode = SchemaParser.decodeUnknownEffect(codec)
  const check = valueCheckOf(codec)
  const refused = (issue: SchemaIssue.Issue) =>
    Effect.succeed(new RefusedPayload(ValidationFailed.issues(issuesOf({ issue }))))
  const type = Schema.declare<S["Type"]>((_value): _value is S["Type"] => true)
  return Schema.Unknown.pipe(Schema.decodeTo(type, {
    decode: SchemaGetter.transformEffect((sent, options) => {
      const issue = check(sent, true)
      // JSON has no word for a payload that is not there.
      return issue === undefined
        ? Effect.catchEager(decode(sent ?? null, options), refused)
        : Effect.succeed(new RefusedPayload(issue))
    }),
    encode: SchemaGetter.transformEffect(SchemaParser.encodeUnknownEffect(codec))
  }))
}

const payloads: ReadonlySet<Schema.Top> = new Set(
  [...StoaRpcs.requests.values()].map(({ payloadSchema }) => payloadSchema)
)

/** A serialization that lets only messages of the protocol through, and says of payloads what is wrong with them. */
const guarded = (serialization: RpcSerialization.RpcSerialization["Service"]) =>
  RpcSerialization.RpcSerialization.of({
    ...serialization,
    codecFor: (schema) => payloads.has(schema) ? unfailing(schema) : serialization.codecFor(schema),
    makeUnsafe: () => {
      const parser = serialization.makeUnsafe()
      return {
        encode: parser.encode,
        decode: (data) => {
          const frames = parser.decode(data)
          for (const frame of frames) {
            if (!isMessage(frame)) throw new NoMessage({ message: "This is no message of the protocol." })
          }
          return frames
        }
      }
    }
  })

/** For sockets: one message a line. */
export const lines = guarded(RpcSerialization.makeNdjson({ maxBufferSize: maxMessageBytes }))

/** For HTTP: one message, or an array of them. */
export const whole = guarded(RpcSerialization.json)

/** Whether a body is what `whole` takes. */
export const isBatch = (body: unknown): boolean => {
  const messages: ReadonlyArray<unknown> = Array.isArray(body) ? body : [body]
  return messages.length <= maxBatch && messages.every(isMessage)
}
