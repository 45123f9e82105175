import { Cause, Clock, Context, Data, Effect, Layer, Option, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { CacheInvalidation } from "../../domain/access/CacheInvalidation.ts"
import { AuthDecoyRepo, authDecoyRepoLayer } from "../../domain/auth/AuthDecoyRepo.ts"
import { GuestOrderClaims } from "../../domain/auth/GuestOrderClaims.ts"
import { membershipRepoLayer } from "../../domain/auth/MembershipRepo.ts"
import { OwnKeyRepo, ownKeyRepoLayer } from "../../domain/auth/OwnKeyRepo.ts"
import { passwordRepoLayer } from "../../domain/auth/PasswordRepo.ts"
import { SessionRepo, sessionRepoLayer } from "../../domain/auth/SessionRepo.ts"
import { TwoFactorRepo, twoFactorRepoLayer } from "../../domain/auth/TwoFactorRepo.ts"
import { Mails } from "../../domain/mail/Mail.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { AuthGateway } from "../../http/auth/AuthGateway.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { authGuards, authPathOf, type SignedIn } from "./AuthGuards.ts"
import { type AuthScope, makeAuthScope } from "./AuthScope.ts"
import { AuthSecret } from "./AuthSecret.ts"
import { makeBetterAuth } from "./BetterAuth.ts"
import { makeDecoys, tellsByTime } from "./Decoys.ts"
import { endedSessions } from "./EndedSessions.ts"
import { refusedChoice } from "./PasswordRules.ts"
import { Passwords } from "./Passwords.ts"
import { RequestOrganization, RequestStore } from "./RequestStore.ts"
import { rememberingBrowser } from "./SignUpBrowser.ts"
import { addressVerificationLayer } from "./Verification.ts"

/** Milliseconds: answers that would tell by their time whether an address is known leave at multiples of it. */
const grid = 100

const isDuplicate = (failure: unknown): boolean => JSON.stringify(failure)?.includes("\"23505\"") === true

/** A refusal inside of a transaction, which has to go with everything that was written before it. */
class RolledBack extends Data.TaggedError("RolledBack")<{ readonly response: Response }> {}

/**
 * Routes that change several records, all or none of them: an organization and its owner, an invitation and its member.
 * They hash no password, which would hold the connection for as long, and nothing that they write before they refuse has
 * to stay. All others are left to better-auth: what it writes before a refusal stays then and has to (wrong codes, the end
 * of a second factor's challenge, a link that was used), sign-up has a transaction of its own, and each statement brings
 * its entries of the change log with it.
 */
const changesTogether = /\/organization\/(create|delete|accept-invitation)$/

type Answering = (request: Request) => Promise<Response>

/** The same in a transaction, which a refusal rolls back. */
const together = (scope: AuthScope, answer: Answering): Answering => (request) =>
  scope.transaction(async () => {
    const response = await answer(request)
    if (response.status >= 400) throw new RolledBack({ response })
    return response
  }).catch((error: unknown) => {
    if (error instanceof RolledBack) return error.response
    throw error
  })

/** Where clients reach this process when the deployment does not say. */
const ownUrl = Effect.gen(function*() {
  const { auth, environment, host, port } = yield* AppConfig
  const url = `http://${host}:${port}`
  if (environment === "production" && Option.isNone(auth.publicUrl)) {
    yield* Effect.logWarning(`links in mails lead to ${url}: say where clients reach this service (STOA_PUBLIC_URL)`)
  }
  return url
})

/** better-auth over the services of this process, and what it is called in. */
const library = Effect.gen(function*() {
  const { auth: settings, deployment, environment } = yield* AppConfig
  const passwords = yield* Passwords
  const { defaultOrganizationId, keyScopes } = yield* StoreSettings
  const base = Context.add(
    Context.make(SqlClient.SqlClient, yield* SqlClient.SqlClient),
    CurrentActor,
    systemActor(defaultOrganizationId)
  )
  const scope = makeAuthScope(base, yield* Semaphore.make(passwords.concurrency + 1))
  const guards = yield* authGuards(scope)
  const sessions = yield* SessionRepo
  const { forget } = yield* CacheInvalidation
  const auth = makeBetterAuth({
    apiKeys: settings.apiKeys.enabled ? keyScopes : undefined,
    organizationHooks: guards.organizationHooks,
    settings,
    secret: yield* AuthSecret,
    production: environment === "production",
    ownUrl: yield* ownUrl,
    storeName: deployment.storeName ?? "Stoa",
    organizationId: defaultOrganizationId,
    scope,
    passwords,
    mails: yield* Mails,
    decoys: yield* AuthDecoyRepo,
    claims: yield* GuestOrderClaims,
    ownKeys: yield* OwnKeyRepo,
    factors: yield* TwoFactorRepo,
    endSessions: (userId) => Effect.andThen(sessions.endAll(userId), forget(`u${userId}`))
  })
  return { auth, guards, scope }
})

/** better-auth behind the port that HTTP knows. */
const gateway = Layer.effect(
  AuthGateway,
  Effect.gen(function*() {
    const { auth, guards, scope } = yield* library
    const store = yield* RequestStore
    const makeUp = yield* makeDecoys(yield* Mails)
    const { secureCookies, sessionCookie } = (yield* AppConfig).auth
    const forgetEnded = yield* endedSessions(sessionCookie)

    /** better-auth's answer; 5xx where a statement failed that it does not tell of. */
    const answered = Effect.fnUntraced(function*(request: Request) {
      const answer = changesTogether.test(authPathOf(request)) ? together(scope, auth.handler) : auth.handler
      const { failures, result, tally } = yield* scope.call(() => answer(request))
      // It answers that all is well where a statement failed: a sign-out, say, whose session lives on.
      const failure = failures.find((one) => !isDuplicate(one))
      if (failure !== undefined && (result.status < 400 || result.status >= 500)) {
        return yield* Effect.die(Cause.isCause(failure) ? Cause.squash(failure) : failure)
      }
      return { response: result, tally }
    })

    const sessionOf = ({ headers }: Request) =>
      Effect.map(
        scope.call(() => auth.api.getSession({ headers })),
        ({ result }): SignedIn | undefined =>
          result === null
            ? undefined
            : {
              userId: result.user.id,
              activeOrganizationId: result.session.activeOrganizationId ?? null,
              twoFactor: "twoFactorEnabled" in result.user && result.user.twoFactorEnabled === true
            }
      )

    return AuthGateway.of({
      answer: Effect.fnUntraced(function*(request) {
        if (authPathOf(request).startsWith("/api-key/")) {
          return yield* guards.ofKeys(
            request,
            yield* sessionOf(request),
            Effect.map(answered(request), ({ response }) => response)
          )
        }
        const refused = yield* refusedChoice(authPathOf(request), request)
        if (refused !== undefined) return refused
        const began = yield* Clock.currentTimeMillis
        const organization = yield* store.organizationOf(request)
        const inOrganization = Effect.provideService(answered(request), RequestOrganization, organization)
        const { response, tally } = authPathOf(request) === "/sign-up/email"
          ? yield* rememberingBrowser(request, secureCookies, inOrganization)
          : yield* inOrganization
        yield* forgetEnded(request, response)
        const answer = { path: authPathOf(request), status: response.status, tally, organizationId: organization }
        if (tellsByTime(answer)) {
          yield* makeUp(answer)
          const elapsed = (yield* Clock.currentTimeMillis) - began
          yield* Effect.sleep(grid - elapsed % grid)
        }
        return response
      })
    })
  })
)

/** Everything that `/api/auth` stands on. Needs mails and whoever claims the orders of guests. */
export const authGatewayLayer = Layer.merge(gateway, addressVerificationLayer).pipe(
  Layer.provide(
    Layer.mergeAll(
      Layer.provide(Passwords.layer, passwordRepoLayer),
      RequestStore.layer,
      authDecoyRepoLayer,
      membershipRepoLayer,
      ownKeyRepoLayer,
      sessionRepoLayer,
      twoFactorRepoLayer
    )
  )
)
