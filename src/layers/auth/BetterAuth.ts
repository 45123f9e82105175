import type { BetterAuthOptions } from "better-auth"
import { createAuthMiddleware } from "better-auth/api"
import { betterAuth } from "better-auth/minimal"
import { Effect, Option, Redacted } from "effect"
import { AuthDecoyRepo, AuthRepo } from "../../domain/auth/AuthRepo.ts"
import { type Mail, Mails } from "../../domain/mail/Mail.ts"
import { CacheInvalidation } from "../../domain/platform/access/CacheInvalidation.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { clientAddressHeader, MailLimit } from "../../http/auth/AuthRequest.ts"
import { withoutAlias } from "../../http/auth/EmailAlias.ts"
import { linkIn, RequestOrganization } from "../access/StoreResolution.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { type AuthSettings, cookiePrefix, sessionUpdateAge } from "../config/AuthConfig.ts"
import { redactText } from "../telemetry/Redaction.ts"
import { authAdapter } from "./AuthAdapter.ts"
import { hiddenTokens } from "./AuthConditions.ts"
import { authModels, type ModelOptions, oneTimeCodes } from "./AuthModels.ts"
import type { AuthScope } from "./AuthScope.ts"
import { AuthSecret } from "./AuthSecret.ts"
import { Passwords } from "./Passwords.ts"
import { GuestOrderClaims, type VerifiedUser } from "./Verification.ts"

const ownUrl = Effect.gen(function*() {
  const { auth, environment, host, port } = yield* AppConfig
  const url = `http://${host}:${port}`
  if (environment === "production" && Option.isNone(auth.publicUrl)) {
    yield* Effect.logWarning(`links in mails lead to ${url}: say where clients reach this service (STOA_PUBLIC_URL)`)
  }
  return url
})

type OrganizationHooks = NonNullable<ModelOptions["organizationHooks"]>

const authParts = Effect.fnUntraced(function*(scope: AuthScope, organizationHooks: OrganizationHooks) {
  const { auth: settings, deployment, environment } = yield* AppConfig
  const { defaultOrganizationId, keyScopes } = yield* StoreSettings
  const { forget } = yield* CacheInvalidation
  const repo = yield* AuthRepo
  return {
    scope,
    organizationHooks,
    settings,
    repo,
    apiKeys: settings.apiKeys.enabled ? keyScopes : undefined,
    secret: yield* AuthSecret,
    production: environment === "production",
    ownUrl: yield* ownUrl,
    storeName: deployment.storeName,
    organizationId: defaultOrganizationId,
    passwords: yield* Passwords,
    mails: yield* Mails,
    decoys: yield* AuthDecoyRepo,
    claims: yield* GuestOrderClaims,
    endSessions: (userId: string) => Effect.andThen(repo.endSessions(userId), forget(`u${userId}`))
  }
})

type AuthParts = Effect.Success<ReturnType<typeof authParts>>

const local = ["localhost", "127.0.0.1", "[::1]"]

const localOrigins = local.flatMap((host) =>
  ["http", "https"].flatMap((scheme) => [`${scheme}://${host}`, `${scheme}://${host}:*`])
)

const baseUrl = ({ ownUrl, production, settings }: AuthParts): BetterAuthOptions["baseURL"] =>
  settings.publicUrl._tag === "Some"
    ? settings.publicUrl.value
    : production
    ? ownUrl
    : { allowedHosts: local.flatMap((host) => [host, `${host}:*`]), protocol: "http", fallback: ownUrl }

const claimFor = ({ claims, organizationId }: AuthParts, user: Omit<VerifiedUser, "organizationId">) =>
  Effect.flatMap(
    RequestOrganization,
    (found) => claims.claim({ ...user, email: withoutAlias(user.email), organizationId: found ?? organizationId })
  )

const onPage = (url: string, page: AuthSettings["verificationPage"]): string => {
  if (page._tag === "None") return url
  const link = new URL(page.value)
  for (const [name, value] of new URL(url).searchParams) link.searchParams.set(name, value)
  return link.href
}

const mailOptions = (parts: AuthParts) => {
  const { decoys: { undone }, mails, organizationId, scope, settings } = parts
  // In a savepoint: a failing mail must not fail the sign-up.
  const send = (mailIn: (organizationId: string) => Mail) =>
    scope.mail(Effect.gen(function*() {
      const mail = mailIn((yield* RequestOrganization) ?? organizationId)
      const allowed = yield* (yield* MailLimit)(mail.template, mail.to)
      // Undone: the response time must not reveal an account.
      yield* allowed ? mails.send(mail) : undone(mails.send(mail))
    }))
  return {
    sendResetPassword: ({ url, user }: { readonly url: string; readonly user: { email: string; name: string } }) =>
      send((organizationId) => ({
        template: "password-reset",
        to: withoutAlias(user.email),
        organizationId,
        data: { resetUrl: url, userName: user.name }
      })),
    emailVerification: {
      sendOnSignUp: settings.requireEmailVerification,
      sendVerificationEmail: ({ url, user }) =>
        send((found) => ({
          template: "email-verification",
          to: withoutAlias(user.email),
          organizationId: found,
          data: {
            verifyUrl: linkIn(onPage(url, settings.verificationPage), found, organizationId),
            userName: user.name
          }
        }))
    } satisfies BetterAuthOptions["emailVerification"]
  }
}

const textOf = (part: unknown): string =>
  part instanceof Error ? `${part.name}: ${part.message}` : typeof part === "string" ? part : ""

/**
 * better-auth logs client mistakes as errors: debug lines here. Additional values are kept if text, without secrets.
 */
const authLogger = (scope: AuthScope) => ({
  level: "info" as const,
  disableColors: true,
  log: (level: "debug" | "info" | "warn" | "error", message: unknown, ...more: ReadonlyArray<unknown>): void => {
    const failed = level === "error" && more.some((part) => part instanceof Error)
    const line = redactText(["authentication:", message, ...more].map(textOf).filter((part) => part !== "").join(" "))
    void scope.run(failed ? Effect.logError(line) : Effect.logDebug(line))
  }
})

const sessionOptions = ({ sessionDuration }: AuthSettings) => ({
  expiresIn: sessionDuration,
  updateAge: Math.min(sessionUpdateAge, sessionDuration),
  // A revoked session would stay valid until the cookie's copy expires.
  cookieCache: { enabled: false }
})

/** better-auth with the rules of the contract (platform §3). */
const betterAuthOf = (parts: AuthParts) => {
  const { passwords, production, scope, settings } = parts
  const { emailVerification, sendResetPassword } = mailOptions(parts)
  const models = authModels({
    apiKeys: parts.apiKeys,
    twoFactor: settings.twoFactor.enabled,
    allowOrganizationCreation: settings.allowOrganizationCreation,
    issuer: parts.storeName,
    organizationHooks: parts.organizationHooks
  })
  return betterAuth({
    ...models,
    plugins: [oneTimeCodes(parts), hiddenTokens, ...models.plugins],
    appName: parts.storeName,
    baseURL: baseUrl(parts),
    basePath: "/api/auth",
    secret: Redacted.value(parts.secret),
    database: authAdapter(scope),
    trustedOrigins: [...settings.trustedOrigins, ...production ? [] : localOrigins],
    session: { ...models.session, ...sessionOptions(settings) },
    account: { ...models.account, encryptOAuthTokens: true },
    // A scheduled job purges: a purging request would be slow.
    verification: { ...models.verification, storeIdentifier: "hashed", disableCleanup: true },
    emailVerification,
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: settings.requireEmailVerification,
      revokeSessionsOnPasswordReset: true,
      // Sessions first: a remaining one could create another key.
      onPasswordReset: ({ user }) => scope.run(Effect.andThen(parts.endSessions(user.id), parts.repo.endKeys(user.id))),
      sendResetPassword,
      password: {
        hash: (password) => scope.run(passwords.hash(password)),
        verify: ({ hash, password }) => scope.run(passwords.verify(password, hash))
      }
    },
    socialProviders: settings.socialProviders,
    databaseHooks: {
      user: {
        create: {
          after: ({ email, emailVerified, id, name }) =>
            emailVerified ? scope.run(claimFor(parts, { userId: id, email, name })) : Promise.resolve()
        }
      }
    },
    hooks: {
      after: createAuthMiddleware(async ({ context: { newSession }, path }) => {
        if (newSession === null) return
        const { email, emailVerified, id, name } = newSession.user
        // A change of the password creates a session only where it ends the others; then keys end too.
        if (path === "/change-password") await scope.run(parts.repo.endKeys(id))
        if (!emailVerified) return
        await scope.run(claimFor(parts, { userId: id, email, name }))
      })
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: authLogger(scope),
    advanced: {
      cookiePrefix,
      useSecureCookies: settings.secureCookies,
      // Explicit: NODE_ENV=test would disable both checks.
      disableCSRFCheck: false,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
      database: { generateId: "uuid", validateSchema: false }
    }
  })
}

export const makeBetterAuth = (scope: AuthScope, organizationHooks: OrganizationHooks) =>
  Effect.map(authParts(scope, organizationHooks), betterAuthOf)
