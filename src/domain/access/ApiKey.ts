import { Schema } from "effect"
import { hash, randomBytes } from "node:crypto"
import { Uuid } from "../ids/Id.ts"

const Time = Schema.Date.annotate({ format: "date-time" })

/** An API key of an organization, without the key itself: that was shown once, when it was made (contract, platform §4). */
export const ApiKey = Schema.Struct({
  id: Uuid,
  name: Schema.NullOr(Schema.String),
  /** The first characters of the key, by which its holder knows it again. */
  start: Schema.NullOr(Schema.String),
  prefix: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Schema.String),
  /** What it is narrowed to; null where its role alone decides. */
  permissions: Schema.NullOr(Schema.Array(Schema.String)),
  enabled: Schema.Boolean,
  expiresAt: Schema.NullOr(Time),
  /** Written down every few seconds: a use of this moment may be missing. */
  lastRequest: Schema.NullOr(Time),
  requestCount: Schema.Int,
  createdAt: Time
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** A key to be made; `expiresAt` null for one that does not run out. */
export interface NewApiKey {
  readonly name: string
  readonly role: string
  readonly expiresAt: Date | null
}

/** Every key of ours begins with it: whoever finds one in a log or a commit knows what it is. */
export const keyPrefix = "stoa_"

/** How many characters of a key are kept readable (contract §4: `start`, prefix included). */
const shown = 10

/** A key of 256 random bits, and what is stored of it. The key itself is to be shown once and kept nowhere. */
export const newKeyText = () => {
  const key = `${keyPrefix}${randomBytes(32).toString("base64url")}`
  return { key, stored: { prefix: keyPrefix, start: key.slice(0, shown), hash: hash("sha256", key, "base64url") } }
}
