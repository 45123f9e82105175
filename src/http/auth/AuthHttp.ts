import { Effect, Layer } from "effect"
import { Headers, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiError } from "effect/http-api"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { Conflict, StillRunning, ValidationFailed, wholeIssue } from "../../domain/platform/errors/ApiErrors.ts"
import { issuesOf } from "../../domain/platform/text/Issues.ts"
import { Actors } from "../access/Actors.ts"
import { actorOf, sendCookie } from "../middleware/AccessLayer.ts"
import { fieldHandling } from "../middleware/FieldHandling.ts"
import { AccountsGroup } from "./AccountsApi.ts"
import { sentBody } from "./AuthBody.ts"
import { AuthCaller } from "./AuthRecords.ts"
import { exchange, forbidden, foreignTest } from "./AuthRequest.ts"
import { ApiKeysGroup, OrganizationsGroup } from "./OrganizationsApi.ts"
import { SessionsGroup, TwoFactorGroup } from "./SessionsApi.ts"
import { verification } from "./VerificationPages.ts"

const inBothForms = (error: Conflict | StillRunning | ValidationFailed) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      { code: error.error.code, message: error.error.message, error: error.error },
      { status: error instanceof ValidationFailed ? 422 : 409 }
    )
  )

const unreadableQuery = (error: HttpApiError.HttpApiSchemaError) => {
  const { message, path } = wholeIssue(
    issuesOf(error.cause)[0] ?? { path: "", message: "is not valid.", code: "invalid" }
  )
  const problem = { code: "VALIDATION_ERROR", message: `[query.${path}] ${message}` }
  return Effect.succeed(HttpServerResponse.jsonUnsafe({ ...problem, error: problem }, { status: 400 }))
}

const isOurs = (error: unknown): error is Conflict | StillRunning | ValidationFailed =>
  error instanceof Conflict || error instanceof StillRunning || error instanceof ValidationFailed

export const authCallerLayer = Layer.effect(
  AuthCaller,
  Effect.map(Effect.all([Actors, foreignTest]), ([actors, isForeign]) =>
    AuthCaller.of((handler, { endpoint }) => {
      const handling = fieldHandling(endpoint, sentBody)
      return Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        // A read needs no user: a mailed link names its user, and better-auth renews the session.
        const headers = request.method === "GET" ? Headers.empty : request.headers
        const caller = yield* actors.fromSession(headers)
        if (caller.renewedCookie !== undefined) yield* sendCookie(caller.renewedCookie)
        const handled = Effect.provideService(handler, CurrentActor, actorOf(caller, request))
        // The handler refuses foreign origins before it reads anything.
        return yield* Effect.catch(isForeign(request) ? handled : handling(handled), (error) =>
          isOurs(error)
            ? inBothForms(error)
            : HttpApiError.HttpApiSchemaError.is(error) && error.kind === "Query"
            ? unreadableQuery(error)
            : Effect.fail(error))
      })
    }))
)

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

/** better-auth answers the declared routes of `/api/auth`; others do not exist. */
export const authHttp = Layer.mergeAll(sessions, accounts, twoFactor, organizations, apiKeys)
