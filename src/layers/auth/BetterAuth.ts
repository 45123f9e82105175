import type { BetterAuthOptions } from "better-auth"
import { createAuthMiddleware } from "better-auth/api"
import { betterAuth } from "better-auth/minimal"
import { Effect, Redacted } from "effect"
import type { AuthDecoyRepo } from "../../domain/auth/AuthDecoyRepo.ts"
import type { GuestOrderClaims, VerifiedUser } from "../../domain/auth/GuestOrderClaims.ts"
import type { OwnKeyRepo } from "../../domain/auth/OwnKeyRepo.ts"
import type { Mail, Mails } from "../../domain/mail/Mail.ts"
import { MailLimit } from "../../http/auth/AuthGateway.ts"
import { clientAddressHeader } from "../../http/auth/AuthRequest.ts"
import { type AuthSettings, cookiePrefix, sessionUpdateAge } from "../config/AuthConfig.ts"
import { authAdapter } from "./AuthAdapter.ts"
import { authLogger } from "./AuthLog.ts"
import { authModels, type ModelOptions } from "./AuthModels.ts"
import type { AuthScope } from "./AuthScope.ts"
import { type OneTimeCodeParts, oneTimeCodes } from "./OneTimeCodes.ts"
import type { Passwords } from "./Passwords.ts"
import { linkIn, RequestOrganization } from "./RequestStore.ts"
import { hiddenTokens } from "./SessionTokens.ts"

/** What better-auth is built over. */
export interface AuthParts {
  readonly settings: AuthSettings
  readonly secret: Redacted.Redacted<string>
  readonly production: boolean
  /** Where this process listens, for links when the deployment does not say where it is reached. */
  readonly ownUrl: string
  readonly storeName: string
  /** Of calls that answer no request. */
  readonly organizationId: string
  readonly scope: AuthScope
  readonly passwords: Passwords["Service"]
  readonly mails: Mails["Service"]
  readonly decoys: AuthDecoyRepo["Service"]
  readonly claims: GuestOrderClaims["Service"]
  readonly ownKeys: OwnKeyRepo["Service"]
  readonly factors: OneTimeCodeParts["factors"]
  readonly endSessions: OneTimeCodeParts["endSessions"]
  readonly apiKeys: ModelOptions["apiKeys"]
  readonly organizationHooks: NonNullable<ModelOptions["organizationHooks"]>
}

const local = ["localhost", "127.0.0.1", "[::1]"]

/** Pages of this machine, on any port. */
const localOrigins = local.flatMap((host) =>
  ["http", "https"].flatMap((scheme) => [`${scheme}://${host}`, `${scheme}://${host}:*`])
)

/** In production never from the request: whoever names a host there would get the links of other people's mails. */
const baseUrl = ({ ownUrl, production, settings }: AuthParts): BetterAuthOptions["baseURL"] =>
  settings.publicUrl._tag === "Some"
    ? settings.publicUrl.value
    : production
    ? ownUrl
    : { allowedHosts: local.flatMap((host) => [host, `${host}:*`]), protocol: "http", fallback: ownUrl }

/** Orders of a guest are claimed where the request is that proves the address, or that signs in. */
const claimFor = ({ claims, organizationId }: AuthParts, user: Omit<VerifiedUser, "organizationId">) =>
  Effect.flatMap(
    RequestOrganization,
    (found) => claims.claim({ ...user, organizationId: found ?? organizationId })
  )

/** The link that verifies an address, on the shop's own page where it has one. */
const onPage = (url: string, page: AuthSettings["verificationPage"]): string => {
  if (page._tag === "None") return url
  const link = new URL(page.value)
  for (const [name, value] of new URL(url).searchParams) link.searchParams.set(name, value)
  return link.href
}

const mailOptions = (parts: AuthParts) => {
  const { decoys: { undone }, mails, organizationId, scope, settings } = parts
  // Behind a savepoint of its own where there is a transaction: a mail that cannot be taken over ends no sign-up.
  const send = (mailIn: (organizationId: string) => Mail) =>
    scope.mail(Effect.gen(function*() {
      const mail = mailIn((yield* RequestOrganization) ?? organizationId)
      const allowed = yield* (yield* MailLimit)(mail.template, mail.to)
      // Undone, so that the time of the answer does not tell that there is an account.
      yield* allowed ? mails.send(mail) : undone(mails.send(mail))
    }))
  return {
    sendResetPassword: ({ url, user }: { readonly url: string; readonly user: { email: string; name: string } }) =>
      send((organizationId) => ({
        template: "password-reset",
        to: user.email,
        organizationId,
        data: { resetUrl: url, userName: user.name }
      })),
    emailVerification: {
      sendOnSignUp: settings.requireEmailVerification,
      sendVerificationEmail: ({ url, user }) =>
        send((found) => ({
          template: "email-verification",
          to: user.email,
          organizationId: found,
          data: {
            verifyUrl: linkIn(onPage(url, settings.verificationPage), found, organizationId),
            userName: user.name
          }
        }))
    } satisfies BetterAuthOptions["emailVerification"]
  }
}

const sessionOptions = ({ sessionDuration }: AuthSettings) => ({
  expiresIn: sessionDuration,
  updateAge: Math.min(sessionUpdateAge, sessionDuration),
  // A revoked session would go on passing until the cookie's copy of it runs out.
  cookieCache: { enabled: false }
})

/** better-auth with the rules of the contract (platform §3) over the services of this process. */
export const makeBetterAuth = (parts: AuthParts) => {
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
    // What opens an account is stored as a digest.
    // What ran out is purged by time, and not by whoever asks next: that would be work which not every answer has.
    verification: { ...models.verification, storeIdentifier: "hashed", disableCleanup: true },
    emailVerification,
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: settings.requireEmailVerification,
      revokeSessionsOnPasswordReset: true,
      // Sessions first: one that lived on could make another key.
      onPasswordReset: ({ user }) =>
        scope.run(Effect.andThen(parts.endSessions(user.id), parts.ownKeys.endAll(user.id))),
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
          // A provider of social sign-in vouches for the address.
          after: ({ email, emailVerified, id, name }) =>
            emailVerified ? scope.run(claimFor(parts, { userId: id, email, name })) : Promise.resolve()
        }
      }
    },
    hooks: {
      // Orders that he placed without signing in since he was here. Nothing where a sign-in failed or made no session.
      after: createAuthMiddleware(async ({ context: { newSession }, path }) => {
        if (newSession === null) return
        const { email, emailVerified, id, name } = newSession.user
        // A change of the password begins a session only where it ends the others, and with them the keys.
        if (path === "/change-password") await scope.run(parts.ownKeys.endAll(id))
        if (!emailVerified) return
        await scope.run(claimFor(parts, { userId: id, email, name }))
      })
    },
    // The edge limits (contract §1.5), for all processes of the deployment together.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: authLogger(scope),
    advanced: {
      cookiePrefix,
      useSecureCookies: settings.secureCookies,
      // Stated, since NODE_ENV=test would switch both off.
      disableCSRFCheck: false,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
      database: { generateId: "uuid", validateSchema: false }
    }
  })
}
