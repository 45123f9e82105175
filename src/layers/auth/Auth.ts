import { Cause, Clock, Context, Effect, Layer, Option, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { GuestOrderClaims } from "../../domain/auth/GuestOrderClaims.ts"
import { membershipRepoLayer } from "../../domain/auth/MembershipRepo.ts"
import { passwordRepoLayer } from "../../domain/auth/PasswordRepo.ts"
import { SessionRepo, sessionRepoLayer } from "../../domain/auth/SessionRepo.ts"
import { Mails } from "../../domain/mail/Mail.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { AuthGateway } from "../../http/auth/AuthGateway.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { authGuards, type SignedIn } from "./AuthGuards.ts"
import { makeAuthScope } from "./AuthScope.ts"
import { AuthSecret } from "./AuthSecret.ts"
import { makeBetterAuth } from "./BetterAuth.ts"
import { Passwords } from "./Passwords.ts"

/** Milliseconds: answers that would tell by their time whether an address is known leave at multiples of it. */
const grid = 100

/** Whether somebody could learn from the time of this answer who has an account. */
const tellsByTime = (request: Request, response: Response): boolean => {
  const path = new URL(request.url).pathname
  return path.endsWith("/sign-in/email") && response.status === 401 || path.endsWith("/sign-up/email") ||
    path.endsWith("/request-password-reset")
}

const isDuplicate = (failure: unknown): boolean => JSON.stringify(failure)?.includes("\"23505\"") === true

/** better-auth behind the port that HTTP knows. */
const gateway = Layer.effect(
  AuthGateway,
  Effect.gen(function*() {
    const { auth: settings, deployment, environment, host, port } = yield* AppConfig
    const passwords = yield* Passwords
    const base = Context.make(SqlClient.SqlClient, yield* SqlClient.SqlClient)
    const scope = makeAuthScope(base, yield* Semaphore.make(passwords.concurrency + 1))
    const production = environment === "production"
    const ownUrl = `http://${host}:${port}`
    if (production && Option.isNone(settings.publicUrl)) {
      yield* Effect.logWarning(
        `links in mails lead to ${ownUrl}: say where clients reach this service (STOA_PUBLIC_URL)`
      )
    }
    const guards = yield* authGuards(scope)
    const auth = makeBetterAuth({
      organizationHooks: guards.organizationHooks,
      settings,
      secret: yield* AuthSecret,
      production,
      ownUrl,
      storeName: deployment.storeName ?? "Stoa",
      organizationId: (yield* StoreSettings).defaultOrganizationId,
      scope,
      passwords,
      mails: yield* Mails,
      claims: yield* GuestOrderClaims,
      sessions: yield* SessionRepo
    })

    /** better-auth's answer; 5xx where a statement failed that it does not tell of. */
    const answered = Effect.fnUntraced(function*(request: Request) {
      const { failures, result } = yield* Effect.provideContext(scope.call(() => auth.handler(request)), base)
      // It answers that all is well where a statement failed: a sign-out, say, whose session lives on.
      const failure = failures.find((one) => !isDuplicate(one))
      if (failure !== undefined && (result.status < 400 || result.status >= 500)) {
        return yield* Effect.die(Cause.isCause(failure) ? Cause.squash(failure) : failure)
      }
      return result
    })

    const sessionOf = ({ headers }: Request) =>
      Effect.map(
        Effect.provideContext(scope.call(() => auth.api.getSession({ headers })), base),
        ({ result }): SignedIn | undefined =>
          result === null
            ? undefined
            : { userId: result.user.id, activeOrganizationId: result.session.activeOrganizationId ?? null }
      )

    return AuthGateway.of({
      answer: Effect.fnUntraced(function*(request) {
        if (request.url.includes("/api/auth/api-key/")) {
          return yield* guards.ofKeys(request, yield* sessionOf(request), answered(request))
        }
        const began = yield* Clock.currentTimeMillis
        const response = yield* answered(request)
        if (tellsByTime(request, response)) {
          const elapsed = (yield* Clock.currentTimeMillis) - began
          yield* Effect.sleep(grid - elapsed % grid)
        }
        return response
      })
    })
  })
)

/** Everything that `/api/auth` stands on. Needs mails and whoever claims the orders of guests. */
export const authGatewayLayer = gateway.pipe(
  Layer.provide(
    Layer.mergeAll(Layer.provide(Passwords.layer, passwordRepoLayer), membershipRepoLayer, sessionRepoLayer)
  )
)
