import { Effect, Option, Schema, SchemaGetter, type SchemaIssue, SchemaParser } from "effect"
import { RpcSerialization } from "effect/rpc"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { issuesOf } from "../../domain/text/Issues.ts"
import { valueCheckOf } from "../middleware/BodyCheck.ts"
import { StoaRpcs } from "./StoaRpcs.ts"

/** Largest message in bytes, as of every request's body (spec §8). */
export const maxMessageBytes = 1_048_576

const Id = Schema.Union([Schema.Number, Schema.String.check(Schema.isMaxLength(64))])

const CallHeaders = Schema.Array(Schema.Tuple([Schema.String, Schema.String])).check(
  Schema.isMaxLength(50),
  Schema.makeFilter((headers) => headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0) <= 16_384)
)

const call = {
  _tag: Schema.Literal("Request"),
  id: Id,
  tag: Schema.String,
  headers: CallHeaders,
  // A caller that waits for no answer would not learn of a refusal.
  isNotification: Schema.optional(Schema.Undefined),
  discard: Schema.optional(Schema.Undefined)
}

const trace = {
  traceId: Schema.String.check(Schema.isMaxLength(64)),
  spanId: Schema.String.check(Schema.isMaxLength(32)),
  sampled: Schema.Boolean
}

const Message = Schema.Union([
  Schema.Struct({ ...call, ...trace }),
  Schema.Struct({ ...call, traceId: Schema.optional(Schema.Undefined), spanId: Schema.optional(Schema.Undefined) }),
  Schema.Struct({ _tag: Schema.Literals(["Ack", "Interrupt"]), requestId: Id }),
  Schema.Struct({ _tag: Schema.Literals(["Ping", "Eof"]) })
])

const isMessages = Schema.is(Schema.Array(Message))

const isBatch = Schema.is(Schema.Union([Message, Schema.Array(Message).check(Schema.isMaxLength(100))]))

const readJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Whether the body of a request is one message or up to 100 of them. */
export const holdsMessages = (body: string): boolean => Option.exists(readJson(body), isBatch)

/**
 * A codec that decodes a payload that its schema refuses as the `ValidationFailed` for the middleware to answer: Effect
 * answers it with a defect, before it is known who sent it.
 */
const unfailing = <S extends Schema.Top>(
  schema: S
): Schema.Codec<S["Type"], unknown, S["DecodingServices"], S["EncodingServices"]> => {
  const codec = RpcSerialization.json.codecFor(schema)
  const decode = SchemaParser.decodeUnknownEffect(codec)
  const check = valueCheckOf(codec)
  const refused = (issue: SchemaIssue.Issue) => Effect.succeed(ValidationFailed.issues(issuesOf({ issue })))
  return Schema.Unknown.pipe(Schema.decodeTo(Schema.declare<S["Type"]>((_value): _value is S["Type"] => true), {
    decode: SchemaGetter.transformEffect((sent, options) => {
      const issue = check(sent, true)
      // An absent payload is `null` in JSON.
      return issue === undefined
        ? Effect.catchEager(decode(sent ?? null, options), refused)
        : Effect.succeed(issue)
    }),
    encode: SchemaGetter.transformEffect(SchemaParser.encodeUnknownEffect(codec))
  }))
}

const payloads: ReadonlySet<Schema.Top> = new Set(
  [...StoaRpcs.requests.values()].map(({ payloadSchema }) => payloadSchema)
)

/** A serialization that refuses what is no message, and says of payloads what is wrong with them. */
const checked = (serialization: RpcSerialization.RpcSerialization["Service"]) =>
  RpcSerialization.RpcSerialization.of({
    ...serialization,
    codecFor: (schema) => payloads.has(schema) ? unfailing(schema) : serialization.codecFor(schema),
    makeUnsafe: () => {
      const { decode, encode } = serialization.makeUnsafe()
      const decodeMessages = (data: string | Uint8Array) => {
        const messages = decode(data)
        // Effect answers what a decoder throws with a defect on the same connection.
        if (!isMessages(messages)) throw new Error("This is no message of the protocol.")
        return messages
      }
      return { encode, decode: decodeMessages }
    }
  })

/** For sockets: one message a line. */
export const lines = checked(RpcSerialization.makeNdjson({ maxBufferSize: maxMessageBytes }))

/** For HTTP: one message, or an array of them. */
export const whole = checked(RpcSerialization.json)
