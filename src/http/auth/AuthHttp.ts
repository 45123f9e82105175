import { Effect, Layer } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { AccountsGroup } from "./AccountsApi.ts"
import { ApiKeysGroup } from "./ApiKeysApi.ts"
import { exchange, forbidden } from "./AuthRequest.ts"
import { OrganizationsGroup } from "./OrganizationsApi.ts"
import { SessionsGroup } from "./SessionsApi.ts"
import { TwoFactorGroup } from "./TwoFactorApi.ts"
import { verification } from "./VerificationRequest.ts"

const refused = forbidden("Members and roles are managed by the store's staff.")

const sessions = HttpApiBuilder.group(
  HttpApi.make("stoa").add(SessionsGroup),
  "auth",
  (handlers) =>
    Effect.map(exchange, (answer) =>
      handlers
        .handleRaw("signUpEmail", answer)
        .handleRaw("signInEmail", answer)
        .handleRaw("signOut", answer)
        .handleRaw("getSession", answer)
        .handleRaw("listSessions", answer)
        .handleRaw("revokeSession", answer)
        .handleRaw("revokeSessions", answer)
        .handleRaw("revokeOtherSessions", answer)
        .handleRaw("ok", answer))
)

const accounts = HttpApiBuilder.group(
  HttpApi.make("stoa").add(AccountsGroup),
  "authAccounts",
  (handlers) =>
    Effect.map(Effect.all([exchange, verification]), ([answer, link]) =>
      handlers
        .handleRaw("updateUser", answer)
        .handleRaw("changePassword", answer)
        .handleRaw("changeEmail", answer)
        .handleRaw("deleteUser", answer)
        .handleRaw("requestPasswordReset", answer)
        .handleRaw("resetPasswordLink", answer)
        .handleRaw("resetPassword", answer)
        .handleRaw("sendVerificationEmail", answer)
        .handleRaw("openVerification", link.open)
        .handleRaw("verifyEmail", link.verify)
        .handleRaw("signInSocial", answer)
        .handleRaw("callback", answer)
        .handleRaw("callbackForm", answer)
        .handleRaw("error", answer)
        .handleRaw("listAccounts", answer)
        .handleRaw("linkSocial", answer)
        .handleRaw("unlinkAccount", answer))
)

const twoFactor = HttpApiBuilder.group(
  HttpApi.make("stoa").add(TwoFactorGroup),
  "authTwoFactor",
  (handlers) =>
    Effect.map(exchange, (answer) =>
      handlers
        .handleRaw("enable", answer)
        .handleRaw("disable", answer)
        .handleRaw("getTotpUri", answer)
        .handleRaw("verifyTotp", answer)
        .handleRaw("sendOtp", answer)
        .handleRaw("verifyOtp", answer)
        .handleRaw("verifyBackupCode", answer)
        .handleRaw("generateBackupCodes", answer))
)

const organizations = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrganizationsGroup),
  "authOrganizations",
  (handlers) =>
    Effect.map(exchange, (answer) =>
      handlers
        .handleRaw("create", answer)
        .handleRaw("list", answer)
        .handleRaw("getFull", answer)
        .handleRaw("setActive", answer)
        .handleRaw("checkSlug", answer)
        .handleRaw("update", answer)
        .handleRaw("delete", answer)
        .handleRaw("acceptInvitation", answer)
        .handleRaw("rejectInvitation", answer)
        .handleRaw("cancelInvitation", answer)
        .handleRaw("listInvitations", answer)
        .handleRaw("listMembers", answer)
        .handleRaw("getActiveMember", answer)
        .handleRaw("hasPermission", answer)
        .handleRaw("inviteMember", () => refused)
        .handleRaw("updateMemberRole", () => refused)
        .handleRaw("removeMember", () => refused)
        .handleRaw("leave", () => refused)
        .handleRaw("createRole", () => refused)
        .handleRaw("updateRole", () => refused)
        .handleRaw("deleteRole", () => refused))
)

const apiKeys = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ApiKeysGroup),
  "authApiKeys",
  (handlers) =>
    Effect.map(exchange, (answer) =>
      handlers
        .handleRaw("create", answer)
        .handleRaw("list", answer)
        .handleRaw("get", answer)
        .handleRaw("update", answer)
        .handleRaw("delete", answer))
)

/** better-auth answers every declared route of `/api/auth`; other routes do not exist. */
export const authHttp = Layer.mergeAll(sessions, accounts, twoFactor, organizations, apiKeys)
