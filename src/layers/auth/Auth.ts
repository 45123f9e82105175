import { Cause, Clock, Context, Data, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { AuthDecoyRepo, AuthRepo } from "../../domain/auth/AuthRepo.ts"
import { type Mail, Mails } from "../../domain/mail/Mail.ts"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import { CacheInvalidation } from "../../domain/platform/access/CacheInvalidation.ts"
import { sentCredentials, tokenDigest } from "../../domain/platform/access/SentCredential.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { AuthGateway, MailLimit } from "../../http/auth/AuthRequest.ts"
import { RequestOrganization, RequestStore } from "../access/StoreResolution.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { authGuards, authPathOf, type SignedIn } from "./AuthGuards.ts"
import { type AuthScope, makeAuthScope, type Tally } from "./AuthScope.ts"
import { makeBetterAuth } from "./BetterAuth.ts"
import { Passwords, refusedChoice } from "./Passwords.ts"
import { addressVerificationLayer, rememberingBrowser } from "./Verification.ts"

export interface Answered {
  readonly path: string
  readonly status: number
  readonly tally: Tally
  readonly organizationId: string
}

const mailTo = (template: "password-reset" | "email-verification", organizationId: string): Mail => {
  const about = { to: `${randomUUID()}@decoy.invalid`, organizationId }
  const url = `http://decoy.invalid/${"0".repeat(200)}`
  return template === "password-reset"
    ? { template, ...about, data: { resetUrl: url, userName: "Decoy" } }
    : { template, ...about, data: { verifyUrl: url, userName: "Decoy" } }
}

export const tellsByTime = ({ path, status }: Pick<Answered, "path" | "status">): boolean =>
  path === "/sign-in/email"
    ? status === 401
    : ["/sign-up/email", "/request-password-reset", "/send-verification-email"].includes(path)

/**
 * Repeats the work that a known or unknown address saved: response times would reveal accounts. Rolled back; failures
 * change nothing.
 */
export const makeDecoys = (mails: Mails["Service"]) =>
  Effect.map(AuthDecoyRepo, ({ account, newAccount, newToken, token, undone }) => {
    const send = (mail: Mail) =>
      Effect.andThen(Effect.flatMap(MailLimit, (limit) => limit(mail.template, mail.to)), mails.send(mail))
    const missing = ({ organizationId, path, status, tally }: Answered) => {
      const unmailed = status === 200 && tally.mails === 0
      switch (path) {
        // For a known address the account was looked up too.
        case "/sign-in/email":
          return tally.statements === 1 ? account : Effect.void
        // A taken address created no account and no mail.
        case "/sign-up/email":
          return unmailed
            ? undone(Effect.andThen(newAccount, send(mailTo("email-verification", organizationId))))
            : Effect.void
        // For an unknown address a token was looked up, and none created.
        case "/request-password-reset":
          return unmailed
            ? Effect.andThen(undone(newToken), undone(send(mailTo("password-reset", organizationId))))
            : token
        case "/send-verification-email":
          return unmailed ? undone(send(mailTo("email-verification", organizationId))) : Effect.void
        default:
          return Effect.void
      }
    }
    return (answered: Answered) =>
      Effect.catchCause(missing(answered), (cause) => Effect.logWarning("decoy work failed", cause))
  })

/** Milliseconds: answers that could reveal an account are sent at multiples of it. */
const grid = 100

const isDuplicate = (failure: unknown): boolean => JSON.stringify(failure)?.includes("\"23505\"") === true

class RolledBack extends Data.TaggedError("RolledBack")<{ readonly response: Response }> {}

/**
 * Routes that change several records in one transaction. They hash no password, and a refusal undoes their writes.
 * Elsewhere better-auth's writes before a refusal must stay: wrong codes, used links.
 */
const changesTogether = /\/organization\/(create|delete|accept-invitation)$/

type Answering = (request: Request) => Promise<Response>

const together = (scope: AuthScope, answer: Answering): Answering => (request) =>
  scope.transaction(async () => {
    const response = await answer(request)
    if (response.status >= 400) throw new RolledBack({ response })
    return response
  }).catch((error: unknown) => {
    if (error instanceof RolledBack) return error.response
    throw error
  })

const library = Effect.gen(function*() {
  const { concurrency } = yield* Passwords
  const { defaultOrganizationId } = yield* StoreSettings
  const base = Context.add(
    Context.make(SqlClient.SqlClient, yield* SqlClient.SqlClient),
    CurrentActor,
    systemActor(defaultOrganizationId)
  )
  const scope = makeAuthScope(base, yield* Semaphore.make(concurrency + 1))
  const guards = yield* authGuards(scope)
  const auth = yield* makeBetterAuth(scope, guards.organizationHooks)
  return { auth, guards, scope }
})

/** Their success ends other sessions too. */
const endsOthers =
  /^\/api\/auth\/(revoke-session|revoke-sessions|revoke-other-sessions|change-password|reset-password)$/

const tokensOf = (headers: Headers, cookieName: string): ReadonlyArray<string> =>
  sentCredentials(Object.fromEntries(headers), cookieName)
    .flatMap((sent) => sent._tag === "Bearer" || sent._tag === "Cookie" ? sent.value.split(".", 1) : [])

/**
 * Drops cached sessions that a response has ended, before it is sent: after a sign-out the token opens nothing here.
 * Triggers notify other processes.
 */
const endedSessions = (cookieName: string) =>
  Effect.map(
    CacheInvalidation,
    ({ forget, forgetAll }) => ({ headers, method, url }: Request, { status }: Response) => {
      if (status < 400 && endsOthers.test(new URL(url).pathname)) return forgetAll
      if (method === "GET") return Effect.void
      return Effect.forEach(tokensOf(headers, cookieName), (token) => forget(`s${tokenDigest(token)}`), {
        discard: true
      })
    }
  )

const gateway = Layer.effect(
  AuthGateway,
  Effect.gen(function*() {
    const { auth, guards, scope } = yield* library
    const store = yield* RequestStore
    const makeUp = yield* makeDecoys(yield* Mails)
    const { secureCookies, sessionCookie } = (yield* AppConfig).auth
    const forgetEnded = yield* endedSessions(sessionCookie)

    const answered = Effect.fnUntraced(function*(request: Request) {
      const answer = changesTogether.test(authPathOf(request)) ? together(scope, auth.handler) : auth.handler
      const { failures, result, tally } = yield* scope.call(() => answer(request))
      // better-auth reports success, for example for a sign-out whose session remains.
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

export const authGatewayLayer = Layer.merge(gateway, addressVerificationLayer).pipe(
  Layer.provide(
    Layer.mergeAll(
      Layer.provideMerge(Passwords.layer, AuthRepo.layer),
      RequestStore.layer,
      AuthDecoyRepo.layer
    )
  )
)
