import { Schema } from "effect"
import { Reference } from "../../domain/text/Storable.ts"

const Time = Schema.Date.annotate({ format: "date-time" })

/** A user in responses of `/api/auth`; ids are UUIDs (contract, platform §3). */
export const AuthUser = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  email: Schema.String,
  emailVerified: Schema.Boolean,
  image: Schema.optional(Schema.NullOr(Schema.String)),
  twoFactorEnabled: Schema.optional(Schema.NullOr(Schema.Boolean)),
  vendorId: Schema.optional(Schema.NullOr(Schema.String)),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "AuthUser" })

/** A session. Its token is a bearer token. */
export const AuthSession = Schema.Struct({
  id: Schema.String,
  userId: Schema.String,
  token: Schema.String,
  expiresAt: Time,
  createdAt: Time,
  updatedAt: Time,
  ipAddress: Schema.optional(Schema.NullOr(Schema.String)),
  userAgent: Schema.optional(Schema.NullOr(Schema.String)),
  activeOrganizationId: Schema.optional(Schema.NullOr(Schema.String))
}).annotate({ identifier: "AuthSession" })

/** The response of a change without data. */
export const Done = Schema.Struct({ status: Schema.Boolean })

/** The same with another field. */
export const Succeeded = Schema.Struct({ success: Schema.Boolean })

/** The signed-in user. The token is null where the address has to be verified first. */
export const SignedUp = Schema.Struct({ token: Schema.NullOr(Schema.String), user: AuthUser })

/** The next address of the browser. */
export const Redirect = Schema.Struct({ url: Schema.String, redirect: Schema.Boolean })

/** An organization. */
export const AuthOrganization = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  slug: Schema.String,
  logo: Schema.optional(Schema.NullOr(Schema.String)),
  metadata: Schema.optional(Schema.NullOr(Schema.Unknown)),
  createdAt: Time
}).annotate({ identifier: "AuthOrganization" })

/** A member of an organization. */
export const AuthMember = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  userId: Schema.String,
  role: Schema.String,
  createdAt: Time,
  user: Schema.optional(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      email: Schema.String,
      image: Schema.optional(Schema.NullOr(Schema.String))
    })
  )
}).annotate({ identifier: "AuthMember" })

/** An invitation to an organization; a user with its address can accept it for seven days. */
export const AuthInvitation = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  email: Schema.String,
  role: Schema.NullOr(Schema.String),
  status: Schema.Literals(["pending", "accepted", "rejected", "canceled"]),
  expiresAt: Time,
  createdAt: Time,
  inviterId: Schema.String
}).annotate({ identifier: "AuthInvitation" })

/** An API key; the key itself is shown once, by its creation (contract, platform §4). */
export const AuthApiKey = Schema.Struct({
  id: Schema.String,
  configId: Schema.String,
  name: Schema.NullOr(Schema.String),
  start: Schema.NullOr(Schema.String),
  prefix: Schema.NullOr(Schema.String),
  referenceId: Schema.String,
  enabled: Schema.Boolean,
  expiresAt: Schema.NullOr(Time),
  permissions: Schema.NullOr(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  metadata: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
  rateLimitEnabled: Schema.Boolean,
  rateLimitTimeWindow: Schema.NullOr(Schema.Int),
  rateLimitMax: Schema.NullOr(Schema.Int),
  requestCount: Schema.Int,
  remaining: Schema.NullOr(Schema.Int),
  refillInterval: Schema.NullOr(Schema.Int),
  refillAmount: Schema.NullOr(Schema.Int),
  lastRefillAt: Schema.NullOr(Time),
  lastRequest: Schema.NullOr(Time),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "AuthApiKey" })

/** Body of the verification page, of the service or of the shop. */
export const VerifyEmail = Schema.Struct({
  token: Reference,
  newPassword: Schema.optional(Reference),
  callbackURL: Schema.optional(Reference)
}).annotate({ identifier: "VerifyEmail" })
