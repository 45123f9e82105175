import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/access/AccessRule.ts"
import { Reference, ShortText } from "../../domain/text/Storable.ts"
import { Idempotency, NeverRepeated } from "../middleware/Idempotency.ts"
import { AuthCaller } from "./AuthCaller.ts"
import { authFailures as error } from "./AuthFailures.ts"
import { AuthUser, Done } from "./AuthRecords.ts"

const password = Schema.Struct({ password: Reference })
const codes = Schema.Array(Schema.String)
const Code = Schema.Struct({ code: ShortText, trustDevice: Schema.optional(Schema.Boolean) })
const Verified = Schema.Struct({ token: Schema.NullOr(Schema.String), user: AuthUser })

/** One-time codes of an authenticator app, and backup codes (contract, platform §3). */
export const TwoFactorGroup = HttpApiGroup.make("authTwoFactor").add(
  HttpApiEndpoint.post("enable", "/api/auth/two-factor/enable", {
    payload: Schema.Struct({ password: Reference, issuer: Schema.optional(ShortText) }),
    success: Schema.Struct({ method: Schema.String, totpURI: Schema.String, backupCodes: codes }),
    error
  })
    .annotateMerge(OpenApi.annotations({
      summary: "Set up a second factor",
      description: "It is required from the first verified code on."
    })),
  HttpApiEndpoint.post("disable", "/api/auth/two-factor/disable", { payload: password, success: Done, error })
    .annotateMerge(OpenApi.annotations({ summary: "Disable the second factor" })),
  HttpApiEndpoint.post("getTotpUri", "/api/auth/two-factor/get-totp-uri", {
    payload: password,
    success: Schema.Struct({ totpURI: Schema.String }),
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Read the address for an authenticator app again" })),
  HttpApiEndpoint.post("verifyTotp", "/api/auth/two-factor/verify-totp", { payload: Code, success: Verified, error })
    .annotate(NeverRepeated, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Verify a code of the authenticator app",
      description: "Completes a sign-in or a set-up. Ten wrong codes lock the factor for 15 minutes (429)."
    })),
  HttpApiEndpoint.post("sendOtp", "/api/auth/two-factor/send-otp", {
    payload: Schema.Struct({ trustDevice: Schema.optional(Schema.Boolean) }),
    success: Done,
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Send a code; not offered (400)" })),
  HttpApiEndpoint.post("verifyOtp", "/api/auth/two-factor/verify-otp", { payload: Code, success: Verified, error })
    .annotate(NeverRepeated, true)
    .annotateMerge(OpenApi.annotations({ summary: "Verify a sent code; not offered (400)" })),
  HttpApiEndpoint.post("verifyBackupCode", "/api/auth/two-factor/verify-backup-code", {
    payload: Schema.Struct({
      code: ShortText,
      disableSession: Schema.optional(Schema.Boolean),
      trustDevice: Schema.optional(Schema.Boolean)
    }),
    success: Verified,
    error
  })
    .annotate(NeverRepeated, true)
    .annotateMerge(OpenApi.annotations({ summary: "Use a backup code instead of the app" })),
  HttpApiEndpoint.post("generateBackupCodes", "/api/auth/two-factor/generate-backup-codes", {
    payload: password,
    success: Schema.Struct({ status: Schema.Boolean, backupCodes: codes }),
    error
  })
    .annotateMerge(OpenApi.annotations({ summary: "Create ten new backup codes, which replace the old ones" }))
)
  .annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
  .middleware(Idempotency).middleware(AuthCaller)
