import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { about } from "../../domain/platform/hints/Hints.ts"
import { Email, Mailbox } from "../../domain/platform/text/Email.ts"
import { PersonName, PictureUrl, Reference, ShopperObject, ShortText } from "../../domain/platform/text/Storable.ts"
import { Time } from "../../domain/platform/text/Time.ts"
import { summary } from "../endpoint/Resource.ts"
import { ParameterPrefixes } from "../middleware/FieldHandling.ts"
import { Idempotency, NeverRepeated } from "../middleware/Idempotency.ts"
import { TakesForm } from "./AuthBody.ts"
import {
  AuthCaller,
  authFailures as error,
  AuthUser,
  Callback,
  Done,
  get,
  isRedirected,
  post,
  Redirect,
  SignedUp,
  VerifyEmail
} from "./AuthRecords.ts"

const provider = { provider: Schema.String }
const optionalText = Schema.optional(Reference)
const password = Schema.String.check(Schema.isMinLength(8), Schema.isMaxLength(128))

const UserChange = Schema.Struct({
  name: Schema.optional(PersonName),
  image: Schema.optional(Schema.NullOr(PictureUrl)).pipe(about("Address of a picture."))
})
  .annotate({ identifier: "AuthUserChange" })

const PasswordChange = Schema.Struct({
  currentPassword: Reference,
  newPassword: password,
  revokeOtherSessions: Schema.optional(Schema.Boolean).pipe(about("Ends all sessions and begins a new one here."))
}).annotate({ identifier: "PasswordChange" })

const SocialSignIn = Schema.Struct({
  provider: ShortText.pipe(about("Id of a provider of the deployment, such as google.")),
  callbackURL: Callback,
  errorCallbackURL: optionalText.pipe(about("Page for failed sign-ins; default: `/api/auth/error`.")),
  newUserCallbackURL: optionalText.pipe(
    about("Page for users who sign in for the first time; default: `callbackURL`.")
  ),
  disableRedirect: Schema.optional(Schema.Boolean).pipe(
    about("Answers with `redirect` false: the client opens `url`.")
  ),
  scopes: Schema.optional(Schema.Array(ShortText).check(Schema.isMaxLength(50))).pipe(
    about("Rights to ask the provider for, beside those of the deployment.")
  ),
  requestSignUp: Schema.optional(Schema.Boolean).pipe(
    about("Makes an account where the provider may only sign in known users.")
  ),
  loginHint: optionalText.pipe(about("Address that the provider's page fills in.")),
  idToken: Schema.optional(ShopperObject)
}).annotate({ identifier: "SocialSignIn" })

const SocialSignedIn = Schema.Struct({
  redirect: isRedirected,
  url: optionalText,
  token: optionalText.pipe(about("Token of the session, for `Authorization: Bearer`; only with `idToken`.")),
  user: Schema.optional(AuthUser)
})

const LinkedAccount = Schema.Struct({
  id: Schema.String,
  providerId: Schema.String,
  accountId: Schema.String,
  userId: Schema.String,
  scopes: Schema.Array(Schema.String).pipe(about("Rights that the provider gave.")),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "LinkedAccount" })

const ProviderForm = Schema.Struct({
  code: optionalText.pipe(about("Code that the service exchanges for the account.")),
  state: optionalText.pipe(about("Text that the sign-in began with.")),
  error: optionalText.pipe(about("Name of the failure (RFC 6749).")),
  error_description: optionalText.pipe(about("Sentence about the failure.")),
  iss: optionalText.pipe(about("Address of the provider (RFC 9207).")),
  user: optionalText.pipe(about("JSON with the name, which Apple sends once.")),
  device_id: optionalText.pipe(about("Id that VK needs to exchange the code."))
}).pipe(HttpApiSchema.asFormUrlEncoded())

const Moved = HttpApiSchema.Empty(302)

const Page = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))

/** Links of mails are opened by people: errors are pages too. */
const pageErrors = [...error, Page.pipe(HttpApiSchema.status(400)), Page.pipe(HttpApiSchema.status(401))] as const

/** Every parameter of these addresses is the provider's. */
const ofProvider = [""]

/** User record, passwords, verified addresses and social sign-in (contract, platform §3). */
export const AccountsGroup = HttpApiGroup.make("authAccounts").add(
  post("updateUser", "/api/auth/update-user", UserChange, Done, "Change the user's name or picture"),
  post(
    "changePassword",
    "/api/auth/change-password",
    PasswordChange,
    SignedUp,
    "Change the password",
    "With `revokeOtherSessions` every session ends, this one is replaced, and `token` is that of the new one."
  ),
  post(
    "changeEmail",
    "/api/auth/change-email",
    Schema.Struct({ newEmail: Email, callbackURL: Callback }),
    Done,
    "Change the e-mail address; not offered (400)"
  ),
  post(
    "deleteUser",
    "/api/auth/delete-user",
    Schema.Struct({
      password: optionalText,
      token: optionalText.pipe(about("Token of a mail.")),
      callbackURL: Callback
    }),
    Done,
    "Delete the account; not offered (404)"
  ),
  post(
    "requestPasswordReset",
    "/api/auth/request-password-reset",
    Schema.Struct({
      email: Mailbox,
      redirectTo: optionalText.pipe(about("Page of a trusted origin that asks for the new password."))
    }),
    Schema.Struct({ ...Done.fields, message: Schema.String }),
    "Send a mail with a link that sets a new password",
    "The answer is the same for addresses without an account."
  ),
  HttpApiEndpoint.get("resetPasswordLink", "/api/auth/reset-password/:token", {
    params: { token: Schema.String },
    query: { callbackURL: optionalText },
    success: Moved,
    error
  }).annotateMerge(summary("Open the link of a mail that resets the password")),
  post(
    "resetPassword",
    "/api/auth/reset-password",
    Schema.Struct({ newPassword: password, token: optionalText.pipe(about("Token in the link of the mail.")) }),
    Done,
    "Set a new password with the token of a mail",
    "The token is valid for an hour and once. All sessions of the user end."
  ),
  post(
    "sendVerificationEmail",
    "/api/auth/send-verification-email",
    Schema.Struct({ email: Mailbox, callbackURL: Callback }),
    Done,
    "Send the mail with the link that verifies an address again"
  ),
  HttpApiEndpoint.get("openVerification", "/api/auth/verify-email", {
    query: { token: optionalText, callbackURL: optionalText, organizationId: optionalText },
    success: Page,
    error: pageErrors
  }).annotateMerge(summary(
    "Open the link of a mail that verifies an address",
    "Opening it changes nothing. A page of the shop can replace it (`auth.verificationPage`)."
  )),
  HttpApiEndpoint.post("verifyEmail", "/api/auth/verify-email", {
    payload: VerifyEmail,
    success: [Done, Page],
    error: pageErrors
  }).annotate(NeverRepeated, true).annotate(TakesForm, true).annotate(ParameterPrefixes, ["organizationId"])
    .annotateMerge(summary(
      "Verify an address with the token of a mail",
      "Ends all sessions of the user. Unless the browser that signed up sends it, with its cookie, " +
        "`newPassword` is required (400 `NEW_PASSWORD_REQUIRED`) and replaces everything that gave access before: " +
        "passwords, linked accounts, second factors and keys. A form is answered with a page."
    )),
  post(
    "signInSocial",
    "/api/auth/sign-in/social",
    SocialSignIn,
    SocialSignedIn,
    "Start a sign-in with an account of a provider"
  ).annotate(NeverRepeated, true),
  HttpApiEndpoint.get("callback", "/api/auth/callback/:provider", { params: provider, success: Moved, error })
    .annotate(ParameterPrefixes, ofProvider)
    .annotateMerge(summary("Complete a sign-in with a provider, by redirect")),
  HttpApiEndpoint.post("callbackForm", "/api/auth/callback/:provider", {
    params: provider,
    payload: ProviderForm,
    success: Moved,
    error
  }).annotate(NeverRepeated, true).annotate(TakesForm, true).annotate(ParameterPrefixes, ofProvider)
    .annotateMerge(summary("Complete a sign-in with a provider, by form")),
  get("error", "/api/auth/error", Page, "Get the page of a failed sign-in, where the shop has none")
    .annotate(ParameterPrefixes, ["error"]),
  get("listAccounts", "/api/auth/list-accounts", Schema.Array(LinkedAccount), "List the user's sign-in methods"),
  post("linkSocial", "/api/auth/link-social", SocialSignIn, Redirect, "Add an account of a provider as sign-in method"),
  post(
    "unlinkAccount",
    "/api/auth/unlink-account",
    Schema.Struct({
      accountId: ShortText.annotate({ description: "The `id` that list-accounts shows." }),
      providerId: Schema.optional(ShortText)
    }),
    Done,
    "Remove a sign-in method; the last one stays"
  )
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)
