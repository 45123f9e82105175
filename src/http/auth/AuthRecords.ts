import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import {
  ErrorMessage,
  Issue,
  NotFound,
  PayloadTooLarge,
  TooManyRequests,
  Unavailable
} from "../../domain/platform/errors/ApiErrors.ts"
import { about } from "../../domain/platform/hints/Hints.ts"
import { Reference } from "../../domain/platform/text/Storable.ts"
import { Time } from "../../domain/platform/text/Time.ts"
import { summary } from "../endpoint/Resource.ts"

/**
 * Provides the user of a session, for the change log and idempotency keys. Refuses nothing: better-auth decides, and a
 * request with an expired session may be a sign-in. Errors get the form of these routes (contract, platform §1.1).
 */
export class AuthCaller extends HttpApiMiddleware.Service<AuthCaller, { provides: CurrentActor }>()(
  "stoa/http/AuthCaller"
) {}

const ErrorCode = Schema.String.annotate({ description: "Kind of the error, for programs." })

const AuthError = Schema.Struct({
  code: ErrorCode,
  message: ErrorMessage,
  details: Schema.optional(
    Schema.Struct({ issues: Schema.Array(Issue).annotate({ description: "Problems by field." }) })
      .annotate({ description: "For forms." })
  )
}).annotate({ identifier: "AuthError", description: "Reason why the request was refused." })

/** The envelope with `code` and `message` beside it, for clients of better-auth (contract, platform §1.1). */
const failure = (status: number) =>
  Schema.StructWithRest(
    Schema.Struct({ code: ErrorCode, message: ErrorMessage, error: AuthError }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  ).annotate({ httpApiStatus: status })

export const authFailures = [
  ...[400, 401, 403, 404, 409, 415, 422, 429].map(failure),
  NotFound,
  PayloadTooLarge,
  TooManyRequests,
  Unavailable
]

type Path = `/api/auth/${string}`

export const post = <const Name extends string, const P extends Path, Payload extends Schema.Top, S extends Schema.Top>(
  name: Name,
  path: P,
  payload: Payload,
  success: S,
  ...texts: Parameters<typeof summary>
) => HttpApiEndpoint.post(name, path, { payload, success, error: authFailures }).annotateMerge(summary(...texts))

export const act = <const Name extends string, const P extends Path, S extends Schema.Top>(
  name: Name,
  path: P,
  success: S,
  ...texts: Parameters<typeof summary>
) => HttpApiEndpoint.post(name, path, { success, error: authFailures }).annotateMerge(summary(...texts))

export const get = <const Name extends string, const P extends Path, S extends Schema.Top>(
  name: Name,
  path: P,
  success: S,
  ...texts: Parameters<typeof summary>
) => HttpApiEndpoint.get(name, path, { success, error: authFailures }).annotateMerge(summary(...texts))

const done = Schema.Boolean.pipe(about("Always true: a failure has an error status."))

/** Picture of a person or an organization. */
const Picture = Schema.optional(Schema.NullOr(Schema.String)).pipe(about("Address of a picture."))

/** Address of a page of the shop. */
export const Callback = Schema.optional(Reference).pipe(
  about("Page of a trusted origin that the browser goes to afterwards.")
)

export const Role = Schema.String.pipe(about("Name of a role of the deployment; a comma joins several."))

/** Ids are UUIDs (contract, platform §3). */
export const AuthUser = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  email: Schema.String,
  emailVerified: Schema.Boolean.pipe(about("The user has opened the link in a mail to the address.")),
  image: Picture,
  twoFactorEnabled: Schema.optional(Schema.NullOr(Schema.Boolean)).pipe(about("A sign-in needs a second factor.")),
  vendorId: Schema.optional(Schema.NullOr(Schema.String)),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "AuthUser" })

export const AuthSession = Schema.Struct({
  id: Schema.String,
  userId: Schema.String,
  token: Schema.String.pipe(about("Token of the session, for `Authorization: Bearer`.")),
  expiresAt: Time,
  createdAt: Time,
  updatedAt: Time,
  ipAddress: Schema.optional(Schema.NullOr(Schema.String)),
  userAgent: Schema.optional(Schema.NullOr(Schema.String)),
  activeOrganizationId: Schema.optional(Schema.NullOr(Schema.String))
}).annotate({ identifier: "AuthSession" })

export const Done = Schema.Struct({ status: done })

export const Succeeded = Schema.Struct({ success: done })

/** The token is null until the address is verified. */
export const SignedUp = Schema.Struct({
  token: Schema.NullOr(Schema.String).pipe(about("Token of the session, for `Authorization: Bearer`.")),
  user: AuthUser
})

export const isRedirected = Schema.Boolean.pipe(about("The browser has to open `url`."))
export const Redirect = Schema.Struct({ url: Schema.String, redirect: isRedirected })

export const AuthOrganization = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  slug: Schema.String,
  logo: Picture,
  metadata: Schema.optional(Schema.NullOr(Schema.Unknown)).pipe(about("Free JSON of its owner.")),
  createdAt: Time
}).annotate({ identifier: "AuthOrganization" })

export const AuthMember = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  userId: Schema.String,
  role: Role,
  createdAt: Time,
  user: Schema.optional(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      email: Schema.String,
      image: Picture
    })
  )
}).annotate({ identifier: "AuthMember" })

/** Valid for seven days, for the user with its address. */
export const AuthInvitation = Schema.Struct({
  id: Schema.String,
  organizationId: Schema.String,
  email: Schema.String,
  role: Schema.NullOr(Schema.String).pipe(about("Role that the person gets; null: the role of members.")),
  status: Schema.Literals(["pending", "accepted", "rejected", "canceled"]).pipe(
    about("Only a pending invitation can be accepted.")
  ),
  expiresAt: Time,
  createdAt: Time,
  inviterId: Schema.String
}).annotate({ identifier: "AuthInvitation" })

/** The key itself is shown once, at creation (contract, platform §4). */
export const AuthApiKey = Schema.Struct({
  id: Schema.String,
  configId: Schema.String.pipe(about("Kind of key.")),
  name: Schema.NullOr(Schema.String),
  start: Schema.NullOr(Schema.String).pipe(about("First characters, to recognise it.")),
  prefix: Schema.NullOr(Schema.String).pipe(about("Characters that it begins with.")),
  referenceId: Schema.String.pipe(about("User or organization it belongs to.")),
  enabled: Schema.Boolean.pipe(about("False: the key opens nothing.")),
  expiresAt: Schema.NullOr(Time),
  permissions: Schema.NullOr(Schema.Record(Schema.String, Schema.Array(Schema.String))).pipe(
    about("Actions by module; null: the permissions of its scope.")
  ),
  metadata: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))).pipe(
    about("Free JSON of its owner, where the scope allows it.")
  ),
  rateLimitEnabled: Schema.Boolean.pipe(about("Requests are limited.")),
  rateLimitTimeWindow: Schema.NullOr(Schema.Int).pipe(about("Milliseconds of a window.")),
  rateLimitMax: Schema.NullOr(Schema.Int).pipe(about("Requests of a window.")),
  requestCount: Schema.Int.pipe(about("Requests so far in the window.")),
  remaining: Schema.NullOr(Schema.Int).pipe(about("Requests that are left; null: no limit.")),
  refillInterval: Schema.NullOr(Schema.Int).pipe(about("Milliseconds between refills.")),
  refillAmount: Schema.NullOr(Schema.Int).pipe(about("Requests that a refill adds.")),
  lastRefillAt: Schema.NullOr(Time),
  lastRequest: Schema.NullOr(Time),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "AuthApiKey" })

export const VerifyEmail = Schema.Struct({
  token: Reference.pipe(about("Token in the link of the mail.")),
  newPassword: Schema.optional(Reference),
  callbackURL: Callback
}).annotate({ identifier: "VerifyEmail" })
