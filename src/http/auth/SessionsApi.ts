import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/access/AccessRule.ts"
import { PersonName, PictureUrl, Reference, ShortText } from "../../domain/text/Storable.ts"
import { Idempotency, NeverRepeated } from "../middleware/Idempotency.ts"
import { TakesForm } from "./AuthBody.ts"
import { AuthCaller } from "./AuthCaller.ts"
import { authFailures as error } from "./AuthFailures.ts"
import { AuthSession, AuthUser, Done, SignedUp, Succeeded } from "./AuthRecords.ts"

const SignUp = Schema.Struct({
  name: PersonName,
  email: ShortText,
  password: Schema.String.check(Schema.isMinLength(8), Schema.isMaxLength(128)),
  image: Schema.optional(PictureUrl),
  callbackURL: Schema.optional(Reference),
  rememberMe: Schema.optional(Schema.Boolean)
}).annotate({ identifier: "SignUp" })

const SignIn = Schema.Struct({
  email: ShortText,
  password: Reference,
  callbackURL: Schema.optional(Reference),
  rememberMe: Schema.optional(Schema.Boolean)
}).annotate({ identifier: "SignIn" })

const SignedIn = Schema.Struct({
  redirect: Schema.optional(Schema.Boolean),
  token: Schema.optional(Schema.String),
  url: Schema.optional(Schema.String),
  user: Schema.optional(AuthUser),
  twoFactorRedirect: Schema.optional(Schema.Boolean),
  twoFactorMethods: Schema.optional(Schema.Array(Schema.String))
}).annotate({ identifier: "SignedIn" })

const CurrentSession = Schema.NullOr(Schema.Struct({ session: AuthSession, user: AuthUser }))

/** Sign-up, sign-in, sign-out and sessions (spec §4 Authentication endpoints, contract, platform §3). */
export const SessionsGroup = HttpApiGroup.make("auth").add(
  HttpApiEndpoint.post("signUpEmail", "/api/auth/sign-up/email", { payload: SignUp, success: SignedUp, error })
    .annotate(TakesForm, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Sign up with e-mail and password",
      description: "Where addresses have to be verified, the token is null and a link is mailed."
    })),
  HttpApiEndpoint.post("signInEmail", "/api/auth/sign-in/email", { payload: SignIn, success: SignedIn, error })
    .annotate(NeverRepeated, true)
    .annotate(TakesForm, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Sign in with e-mail and password",
      description: "The token is a bearer token; browsers get the session cookie. With a second factor there is no " +
        "session yet: `twoFactorRedirect` is true and a code is required."
    })),
  HttpApiEndpoint.post("signOut", "/api/auth/sign-out", { success: Succeeded, error })
    .annotateMerge(OpenApi.annotations({ summary: "Sign out, which ends the session everywhere" })),
  HttpApiEndpoint.get("getSession", "/api/auth/get-session", { success: CurrentSession, error })
    .annotateMerge(OpenApi.annotations({ summary: "Read the current session; null without one" })),
  HttpApiEndpoint.get("listSessions", "/api/auth/list-sessions", { success: Schema.Array(AuthSession), error })
    .annotateMerge(OpenApi.annotations({
      summary: "List the user's sessions",
      description: "`token` is the id of the session, which can end it but does not authenticate."
    })),
  HttpApiEndpoint.post("revokeSession", "/api/auth/revoke-session", {
    payload: Schema.Struct({ token: Reference }),
    success: Done,
    error
  })
    .annotateMerge(OpenApi.annotations({
      summary: "End a session of the user",
      description: "By its token, or by its id from the list of sessions."
    })),
  HttpApiEndpoint.post("revokeSessions", "/api/auth/revoke-sessions", { success: Done, error })
    .annotateMerge(OpenApi.annotations({ summary: "End all sessions of the user" })),
  HttpApiEndpoint.post("revokeOtherSessions", "/api/auth/revoke-other-sessions", { success: Done, error })
    .annotateMerge(OpenApi.annotations({ summary: "End all sessions of the user but this one" })),
  HttpApiEndpoint.get("ok", "/api/auth/ok", { success: Schema.Struct({ ok: Schema.Boolean }) })
    .annotateMerge(OpenApi.annotations({ summary: "Whether authentication is served" }))
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)
