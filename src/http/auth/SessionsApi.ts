import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { about } from "../../domain/platform/hints/Hints.ts"
import { Email, Mailbox } from "../../domain/platform/text/Email.ts"
import { PersonName, PictureUrl, Reference, ShortText } from "../../domain/platform/text/Storable.ts"
import { summary } from "../endpoint/Resource.ts"
import { ParameterPrefixes } from "../middleware/FieldHandling.ts"
import { Idempotency, NeverRepeated } from "../middleware/Idempotency.ts"
import { TakesForm } from "./AuthBody.ts"
import {
  act,
  AuthCaller,
  AuthSession,
  AuthUser,
  Callback,
  Done,
  get,
  isRedirected,
  post,
  SignedUp,
  Succeeded
} from "./AuthRecords.ts"

const rememberMe = Schema.optional(Schema.Boolean).pipe(
  about("False: the cookie ends when the browser is closed. Default: true.")
)

const SignUp = Schema.Struct({
  name: PersonName,
  email: Email,
  password: Schema.String.check(Schema.isMinLength(8), Schema.isMaxLength(128)),
  image: Schema.optional(PictureUrl).pipe(about("Address of a picture.")),
  callbackURL: Callback,
  rememberMe
}).annotate({ identifier: "SignUp" })

const SignIn = Schema.Struct({
  email: Mailbox,
  password: Reference,
  callbackURL: Callback,
  rememberMe
}).annotate({ identifier: "SignIn" })

const SignedIn = Schema.Struct({
  redirect: Schema.optional(isRedirected),
  token: Schema.optional(Schema.String).pipe(about("Token of the session, for `Authorization: Bearer`.")),
  url: Schema.optional(Schema.String),
  user: Schema.optional(AuthUser),
  twoFactorRedirect: Schema.optional(Schema.Boolean).pipe(
    about("True: there is no session yet, and a code is required.")
  ),
  twoFactorMethods: Schema.optional(Schema.Array(Schema.String)).pipe(about("Ways to give the code, such as totp."))
}).annotate({ identifier: "SignedIn" })

const CurrentSession = Schema.NullOr(Schema.Struct({ session: AuthSession, user: AuthUser }))

/** Sign-up, sign-in, sign-out and sessions (spec §4, contract, platform §3). */
export const SessionsGroup = HttpApiGroup.make("auth").add(
  post(
    "signUpEmail",
    "/api/auth/sign-up/email",
    SignUp,
    SignedUp,
    "Sign up with e-mail and password",
    "Where addresses have to be verified, the token is null and a link is mailed."
  ).annotate(TakesForm, true),
  post(
    "signInEmail",
    "/api/auth/sign-in/email",
    SignIn,
    SignedIn,
    "Sign in with e-mail and password",
    "The token is a bearer token; browsers get the session cookie. With a second factor there is no " +
      "session yet: `twoFactorRedirect` is true and a code is required."
  ).annotate(NeverRepeated, true).annotate(TakesForm, true),
  act("signOut", "/api/auth/sign-out", Succeeded, "Sign out, which ends the session everywhere"),
  get("getSession", "/api/auth/get-session", CurrentSession, "Get the current session; null without one")
    .annotate(ParameterPrefixes, ["disableCookieCache", "disableRefresh"]),
  get(
    "listSessions",
    "/api/auth/list-sessions",
    Schema.Array(AuthSession),
    "List the user's sessions",
    "`token` is the id of the session, which can end it but does not authenticate."
  ),
  post(
    "revokeSession",
    "/api/auth/revoke-session",
    Schema.Struct({ token: Reference.pipe(about("Token or id of the session to end.")) }),
    Done,
    "End a session of the user",
    "By its token, or by its id from the list of sessions."
  ),
  act("revokeSessions", "/api/auth/revoke-sessions", Done, "End all sessions of the user"),
  act("revokeOtherSessions", "/api/auth/revoke-other-sessions", Done, "End all sessions of the user but this one"),
  HttpApiEndpoint.get("ok", "/api/auth/ok", {
    success: Schema.Struct({ ok: Schema.Boolean.pipe(about("Always true.")) })
  })
    .annotateMerge(summary("Check that authentication is served"))
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)

const password = Schema.Struct({ password: Reference })
const codes = Schema.Array(Schema.String).pipe(about("Ten codes, each for one use, shown in this answer only."))
const trustDevice = Schema.optional(Schema.Boolean).pipe(about("Asks this browser for no second factor for 30 days."))
const totpURI = Schema.String.pipe(about("Address that an authenticator app reads as a QR code (`otpauth:`)."))
const Code = Schema.Struct({ code: ShortText.pipe(about("Six digits of the app, or of the mail.")), trustDevice })
const Verified = Schema.Struct({
  token: Schema.NullOr(Schema.String).pipe(about("Token of the session, for `Authorization: Bearer`.")),
  user: AuthUser
})

/** One-time and backup codes (contract, platform §3). */
export const TwoFactorGroup = HttpApiGroup.make("authTwoFactor").add(
  post(
    "enable",
    "/api/auth/two-factor/enable",
    Schema.Struct({
      password: Reference,
      issuer: Schema.optional(ShortText).pipe(about("Name that the app shows; default: the shop."))
    }),
    Schema.Struct({ method: Schema.String.pipe(about("Always totp.")), totpURI, backupCodes: codes }),
    "Set up a second factor",
    "It is required from the first verified code on."
  ),
  post("disable", "/api/auth/two-factor/disable", password, Done, "Disable the second factor"),
  post(
    "getTotpUri",
    "/api/auth/two-factor/get-totp-uri",
    password,
    Schema.Struct({ totpURI }),
    "Get the address for an authenticator app again"
  ),
  post(
    "verifyTotp",
    "/api/auth/two-factor/verify-totp",
    Code,
    Verified,
    "Verify a code of the authenticator app",
    "Completes a sign-in or a set-up. Ten wrong codes lock the factor for 15 minutes (429)."
  ).annotate(NeverRepeated, true),
  post(
    "sendOtp",
    "/api/auth/two-factor/send-otp",
    Schema.Struct({ trustDevice }),
    Done,
    "Send a code; not offered (400)"
  ),
  post("verifyOtp", "/api/auth/two-factor/verify-otp", Code, Verified, "Verify a sent code; not offered (400)")
    .annotate(NeverRepeated, true),
  post(
    "verifyBackupCode",
    "/api/auth/two-factor/verify-backup-code",
    Schema.Struct({
      code: ShortText.pipe(about("An unused backup code.")),
      disableSession: Schema.optional(Schema.Boolean).pipe(about("Checks the code and begins no session.")),
      trustDevice
    }),
    Verified,
    "Use a backup code instead of the app"
  ).annotate(NeverRepeated, true),
  post(
    "generateBackupCodes",
    "/api/auth/two-factor/generate-backup-codes",
    password,
    Schema.Struct({ ...Done.fields, backupCodes: codes }),
    "Create ten new backup codes, which replace the old ones"
  )
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)
