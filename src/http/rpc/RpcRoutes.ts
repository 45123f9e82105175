import { Effect, Layer, Option, Schema, SchemaGetter, type SchemaIssue, SchemaParser } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { type RpcGroup, RpcSerialization, RpcServer } from "effect/rpc"
import { ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { issuesOf } from "../../domain/platform/text/Issues.ts"
import { valueCheckOf } from "../middleware/BodyCheck.ts"
import { envelope } from "../server/Failure.ts"
import { CurrentRequest } from "../server/RequestId.ts"
import { type HttpEffect, newConnection, RpcConnection, RpcSockets } from "./RpcSockets.ts"
import { StoaRpcs } from "./StoaRpcs.ts"

/** Bytes (spec §8). */
export const maxMessageBytes = 1_048_576

const text = (maximum: number) => Schema.String.check(Schema.isMaxLength(maximum))
const absent = Schema.optional(Schema.Undefined)
const Id = Schema.Union([Schema.Number, text(64)])

const CallHeaders = Schema.Array(Schema.Tuple([Schema.String, Schema.String])).check(
  Schema.isMaxLength(50),
  Schema.makeFilter((headers) => headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0) <= 16_384)
)

const call = {
  _tag: Schema.Literal("Request"),
  id: Id,
  tag: Schema.String,
  headers: CallHeaders,
  isNotification: absent,
  discard: absent
}

const Message = Schema.Union([
  Schema.Struct({ ...call, traceId: text(64), spanId: text(32), sampled: Schema.Boolean }),
  Schema.Struct({ ...call, traceId: absent, spanId: absent }),
  Schema.Struct({ _tag: Schema.Literals(["Ack", "Interrupt"]), requestId: Id }),
  Schema.Struct({ _tag: Schema.Literals(["Ping", "Eof"]) })
])

const isMessages = Schema.is(Schema.Array(Message))

const readBatch = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Union([Message, Schema.Array(Message).check(Schema.isMaxLength(100))]))
)

export const holdsMessages = (body: string): boolean => Option.isSome(readBatch(body))

/**
 * Decodes an invalid payload to its `ValidationFailed`, which the middleware returns: Effect would answer a defect
 * before authentication.
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
      if (issue !== undefined) return Effect.succeed(issue)
      // An absent payload is `null` in JSON.
      return Effect.catchEager(decode(sent ?? null, options), refused)
    }),
    encode: SchemaGetter.transformEffect(SchemaParser.encodeUnknownEffect(codec))
  }))
}

/** Refuses invalid messages, and reports issues of these payloads. */
const checked = (serialization: RpcSerialization.RpcSerialization["Service"], payloads: ReadonlySet<Schema.Top>) =>
  RpcSerialization.RpcSerialization.of({
    ...serialization,
    codecFor: (schema) => payloads.has(schema) ? unfailing(schema) : serialization.codecFor(schema),
    makeUnsafe: () => {
      const { decode, encode } = serialization.makeUnsafe()
      const decodeMessages = (data: string | Uint8Array) => {
        const messages = decode(data)
        if (!isMessages(messages)) throw new Error("This is no message of the protocol.")
        return messages
      }
      return { encode, decode: decodeMessages }
    }
  })

export const rpcEndpoints = [{ method: "GET", path: "/rpc" }, { method: "POST", path: "/rpc" }]

const sockets = HttpRouter.middleware(Effect.map(RpcSockets, ({ serve }) => serve)).layer

const requests = HttpRouter.middleware((rpc: HttpEffect) =>
  Effect.gen(function*() {
    const { remoteAddress, text } = yield* HttpServerRequest.HttpServerRequest
    if (!holdsMessages(yield* Effect.catch(text, Effect.die))) return envelope(400)
    const facts = (yield* CurrentRequest) ?? {}
    return yield* Effect.provideService(rpc, RpcConnection, newConnection({ kind: "http", remoteAddress, facts }))
  })
).layer

/** `/rpc` on the API's port (docs/clients.md): a WebSocket with a message a line, and JSON over HTTP. */
export const rpcRoutes = (options: {
  readonly untraced: boolean
  readonly groups: ReadonlyArray<RpcGroup.Any>
}) => {
  const group = StoaRpcs.merge(...options.groups)
  const payloads = new Set<Schema.Top>(Array.from(group.requests.values(), ({ payloadSchema }) => payloadSchema))
  const lines = checked(RpcSerialization.makeNdjson({ maxBufferSize: maxMessageBytes }), payloads)
  const whole = checked(RpcSerialization.json, payloads)
  // With fatal defects a broken call would end the others on its connection.
  const server = { disableTracing: options.untraced, disableFatalDefects: true, spanPrefix: "rpc" }
  const serve = (protocol: "http" | "websocket") => RpcServer.layerHttp({ ...server, group, path: "/rpc", protocol })
  return Layer.merge(
    Layer.provide(serve("websocket"), [sockets, Layer.succeed(RpcSerialization.RpcSerialization, lines)]),
    Layer.provide(serve("http"), [requests, Layer.succeed(RpcSerialization.RpcSerialization, whole)])
  )
}
