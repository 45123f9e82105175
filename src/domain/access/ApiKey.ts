import { Schema } from "effect"
import { hash, randomBytes } from "node:crypto"
import { Uuid } from "../ids/Id.ts"
import { maybe, Moment, Time } from "../pricing/Bounds.ts"
import { StorableObject, Text } from "../text/Storable.ts"

/** An API key of an organization without its secret, which is shown only at creation (contract, platform §4). */
export const ApiKey = Schema.Struct({
  id: Uuid,
  name: Schema.NullOr(Schema.String),
  /** The first characters of the key, by which its holder recognizes it. */
  start: Schema.NullOr(Schema.String),
  prefix: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Schema.String),
  /** The name of the scope with its permissions; null for a key with a role. */
  scope: Schema.NullOr(Schema.String),
  /** Permissions that it is narrowed to; null where its role or scope alone decides. */
  permissions: Schema.NullOr(Schema.Array(Schema.String)),
  enabled: Schema.Boolean,
  expiresAt: Schema.NullOr(Time),
  /** Written every few seconds: the latest uses may be missing. */
  lastRequest: Schema.NullOr(Time),
  requestCount: Schema.Int,
  /** Remarks of its author, where the scope allows them. They affect nothing. */
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
  createdAt: Time
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** The record with the secret: only the response of the creation has it. */
export const ApiKeyWithKey = Schema.Struct({
  ...ApiKey.fields,
  key: Schema.String.annotate({ description: "Shown in this answer only." })
}).annotate({ identifier: "ApiKeyWithKey" })
export type ApiKeyWithKey = typeof ApiKeyWithKey.Type

/** A key to create: exactly one of role and scope. */
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

/** Prefix of all keys, so that people and secret scanners recognize one in a log or a commit. */
export const keyPrefix = "stoa_"

/** Creates a key of 256 random bits after its prefix, and its stored form. Show the key once and store it nowhere. */
export const newKeyText = (prefix = keyPrefix) => {
  const key = `${prefix}${randomBytes(32).toString("base64url")}`
  // Ten characters, prefix included (contract §4). After a long prefix a few letters more tell keys apart.
  const start = key.slice(0, Math.max(10, prefix.length + 4))
  return { key, stored: { prefix, start, hash: hash("sha256", key, "base64url") } }
}
