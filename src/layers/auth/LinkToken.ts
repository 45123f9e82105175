import { Option, Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"

/** Whose address a link verifies. better-auth signs it; links that change an address say more and are not offered. */
const Claims = Schema.fromJsonString(
  Schema.Struct({
    email: Schema.String,
    userId: Schema.String.check(Schema.isUUID()),
    exp: Schema.Int,
    updateTo: Schema.optionalKey(Schema.Undefined),
    requestType: Schema.optionalKey(Schema.Undefined)
  })
)
const decode = Schema.decodeUnknownOption(Claims)

/** A link that can be followed, or why it cannot. */
export type ReadToken =
  | { readonly _tag: "Alive"; readonly email: string; readonly userId: string }
  | { readonly _tag: "Dead"; readonly code: "INVALID_TOKEN" | "TOKEN_EXPIRED" }

const dead = (code: "INVALID_TOKEN" | "TOKEN_EXPIRED"): ReadToken => ({ _tag: "Dead", code })

/** Reads the token of a mailed link, a JSON web token under the secret of the deployment. */
export const readToken = (token: string, secret: string, now: number): ReadToken => {
  const [header = "", payload = "", signature = "", ...rest] = token.split(".")
  const expected = createHmac("sha256", secret).update(`${header}.${payload}`).digest()
  const given = Buffer.from(signature, "base64url")
  if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return dead("INVALID_TOKEN")
  }
  return Option.match(decode(Buffer.from(payload, "base64url").toString("utf8")), {
    onNone: () => dead("INVALID_TOKEN"),
    onSome: ({ email, exp, userId }) => exp * 1_000 <= now ? dead("TOKEN_EXPIRED") : { _tag: "Alive", email, userId }
  })
}
