import { Schema } from "effect"
import { hash, randomBytes } from "node:crypto"
import { Uuid } from "../ids/Id.ts"
import { maybe, Moment, Time } from "../pricing/Bounds.ts"
import { StorableObject, Text } from "../text/Storable.ts"

/** An API key of an organization, without the key itself: that was shown once, when it was made (contract, platform §4). */
export const ApiKey = Schema.Struct({
  id: Uuid,
  name: Schema.NullOr(Schema.String),
  /** The first characters of the key, by which its holder knows it again. */
  start: Schema.NullOr(Schema.String),
  prefix: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Schema.String),
  /** The name of the deployment's scope whose permissions it has; null for one with a role. */
  scope: Schema.NullOr(Schema.String),
  /** What it is narrowed to; null where its role or scope alone decides. */
  permissions: Schema.NullOr(Schema.Array(Schema.String)),
  enabled: Schema.Boolean,
  expiresAt: Schema.NullOr(Time),
  /** Written down every few seconds: a use of this moment may be missing. */
  lastRequest: Schema.NullOr(Time),
  requestCount: Schema.Int,
  /** Remarks of whoever made it, where its scope allows them. They decide nothing. */
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
  createdAt: Time
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** The record with the key itself: the answer of its creation, and no other one. */
export const ApiKeyWithKey = Schema.Struct({
  ...ApiKey.fields,
  key: Schema.String.annotate({ description: "Shown in this answer only." })
}).annotate({ identifier: "ApiKeyWithKey" })
export type ApiKeyWithKey = typeof ApiKeyWithKey.Type

/** A key to be made: of a role or of a scope, one of both. */
export const NewApiKey = Schema.Struct({
  name: Text.check(Schema.isMaxLength(64)),
  role: maybe(Text),
  scope: maybe(Text),
  permissions: maybe(Schema.Array(Text).check(Schema.isBetweenLength(1, 100))).annotate({
    description: "What the key is narrowed to; nothing that its role or scope has not."
  }),
  metadata: maybe(StorableObject),
  expiresAt: maybe(Moment.annotate({ description: "When it runs out. Default: as its scope says, else never." }))
}).annotate({ identifier: "NewApiKey" })
export type NewApiKey = typeof NewApiKey.Type

/** Every key of ours begins with it: whoever finds one in a log or a commit knows what it is. */
export const keyPrefix = "stoa_"

/** How many characters of a key are kept readable (contract §4: `start`, prefix included). */
const shown = 10

/**
 * A key of 256 random bits behind its prefix, and what is stored of it. The key itself is to be shown once and kept nowhere.
 */
export const newKeyText = (prefix = keyPrefix) => {
  const key = `${prefix}${randomBytes(32).toString("base64url")}`
  // Behind a long prefix a few random letters more, by which its holder tells it from others.
  const start = key.slice(0, Math.max(shown, prefix.length + 4))
  return { key, stored: { prefix, start, hash: hash("sha256", key, "base64url") } }
}
