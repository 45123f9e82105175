import { Effect, Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { apiError, invalid, notFound, Text } from "stoa/plugin"
import { messages } from "./Log.ts"
import { NotificationOptions, routes } from "./NotificationOptions.ts"

class NotSigned extends apiError("NotSigned", { status: 401, code: "UNAUTHORIZED" }, "The signature is not right.") {}
class MessageNotFound extends notFound("SentMessage", "No message of this id was sent.") {}
class NoReport extends invalid("NoReport", "body", "body must be the report of a message.") {}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({
  messageId: Text,
  status: Schema.Literals(["delivered", "failed"]),
  error: Schema.optional(Text)
})))

const isSigned = (body: Uint8Array, signature: string, secret: string): boolean => {
  const expected = createHmac("sha256", secret).update(body).digest()
  const given = Buffer.from(signature, "hex")
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/**
 * What providers report: a sent message becomes delivered or failed. `x-signature` is the HMAC-SHA256 of the body with
 * `callbackSecret`, in hex. A report that comes again changes nothing; one that comes before its message is written down
 * as sent is 404, so that the provider sends it again.
 */
export const callbackRoute = routes.raw(
  "POST",
  "/callbacks/:providerId",
  {
    summary: "Report the outcome of a message",
    description: "401 without the right signature, 404 for a message that was not sent, 422 for any other body.",
    public: "Providers have no credentials: they sign what they report.",
    params: { providerId: Text },
    accepts: "application/json",
    errors: [NotSigned]
  },
  ({ body, db, headers, params: { providerId } }) =>
    Effect.gen(function*() {
      const { callbackSecret } = yield* NotificationOptions
      if (callbackSecret === undefined || !isSigned(body, headers["x-signature"] ?? "", callbackSecret)) {
        return yield* new NotSigned()
      }
      const { error = null, messageId, status } = yield* Effect.mapError(
        decode(Buffer.from(body).toString("utf8")),
        () => new NoReport()
      )
      const of = { providerId, adapterMessageId: messageId }
      const moved = yield* db.table(messages).updateMany({ ...of, status: "sent" }, { status, error })
      if (moved.length === 0 && (yield* db.table(messages).first(of)) === undefined) return yield* new MessageNotFound()
      return {}
    })
)
