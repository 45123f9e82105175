import { apiKey } from "@better-auth/api-key"
import { createOTP } from "@better-auth/utils/otp"
import type { BetterAuthOptions, BetterAuthPlugin, GenericEndpointContext } from "better-auth"
import { APIError, createAuthMiddleware } from "better-auth/api"
import { symmetricDecrypt } from "better-auth/crypto"
import { bearer } from "better-auth/plugins/bearer"
import { organization } from "better-auth/plugins/organization"
import { twoFactor } from "better-auth/plugins/two-factor"
import { type Effect, Option, Schema } from "effect"
import type { AuthRepo } from "../../domain/auth/AuthRepo.ts"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { type KeyScope, type KeyScopes, noScope } from "../../domain/platform/access/ApiKey.ts"
import type { AuthScope } from "./AuthScope.ts"

export interface ModelOptions {
  readonly apiKeys: KeyScopes | undefined
  readonly twoFactor: boolean
  readonly allowOrganizationCreation: boolean
  readonly issuer: string
  readonly organizationHooks?: NonNullable<Parameters<typeof organization>[0]>["organizationHooks"]
}

/** Seven days (contract, platform §6). */
const invitationSeconds = 604_800

/** Permissions and limits are read from the scope at the time of use. */
const keysOf = (configId: string, scope?: KeyScope) => ({
  configId,
  enableMetadata: scope?.metadata ?? false,
  rateLimit: { enabled: false },
  enableSessionForAPIKeys: false,
  ...scope && { defaultPrefix: scope.prefix, keyExpiration: { defaultExpiresIn: expirySeconds(scope) } }
})

const expirySeconds = ({ expiresAfterDays }: KeyScope) => expiresAfterDays === null ? null : expiresAfterDays * 86_400

const keys = (scopes: KeyScopes) =>
  apiKey(
    [keysOf(noScope), ...Object.entries(scopes).map(([name, scope]) => keysOf(name, scope))],
    { schema: { apikey: { modelName: "api_keys" } } }
  )

export const totpOptions = { digits: 6, period: 30 } as const

const factors = (issuer: string) =>
  twoFactor({
    issuer,
    twoFactorTable: "two_factors",
    totpOptions,
    backupCodeOptions: { amount: 10, storeBackupCodes: "encrypted" },
    accountLockout: { enabled: true, maxFailedAttempts: 10, durationSeconds: 900 }
  })

export const authModels = (options: ModelOptions) => ({
  user: {
    modelName: "users",
    additionalFields: {
      vendorId: { type: "string", required: false, input: false },
      posOperatorPin: { type: "string", required: false, input: false, returned: false }
    }
  },
  session: { modelName: "sessions" },
  account: { modelName: "user_accounts" },
  verification: { modelName: "verifications" },
  plugins: [
    organization({
      allowUserToCreateOrganization: options.allowOrganizationCreation,
      creatorRole: "owner",
      invitationExpiresIn: invitationSeconds,
      requireEmailVerificationOnInvitation: true,
      schema: {
        organization: { modelName: "organizations" },
        member: { modelName: "members" },
        invitation: { modelName: "invitations" }
      },
      ...options.organizationHooks === undefined ? {} : { organizationHooks: options.organizationHooks }
    }),
    ...options.twoFactor ? [factors(options.issuer)] : [],
    ...options.apiKeys === undefined ? [] : [keys(options.apiKeys)],
    bearer()
  ]
} satisfies BetterAuthOptions)

export interface OneTimeCodeParts {
  readonly scope: AuthScope
  readonly repo: AuthRepo["Service"]
  readonly endSessions: (userId: string) => Effect.Effect<void, never, CurrentActor>
}

const path = "/two-factor/verify-totp"

interface Factor {
  readonly secret: string
  readonly verified: boolean | null
}

const decodeCode = Schema.decodeUnknownOption(Schema.Struct({ code: Schema.String }))
const decodeVerified = Schema.decodeUnknownOption(Schema.Struct({ user: Schema.Struct({ id: Schema.String }) }))

/** The period of this code: those that better-auth accepts, and one earlier for the time of its check. */
const periodOf = async (secret: string, code: string): Promise<number | undefined> => {
  const otp = createOTP(secret, totpOptions)
  const now = Math.floor(Date.now() / (totpOptions.period * 1_000))
  for (const period of [now - 2, now - 1, now, now + 1]) {
    if (await otp.hotp(period) === code) return period
  }
  return undefined
}

/**
 * Accepts a code once; better-auth accepts it for as long as the app shows it. The database picks the first of several
 * requests. The first code of a new factor ends all sessions of the user.
 */
export const oneTimeCodes = ({ endSessions, repo, scope }: OneTimeCodeParts) => {
  const spend = async ({ body, context }: GenericEndpointContext, userId: string): Promise<void> => {
    const factor = await context.adapter.findOne<Factor>({
      model: "twoFactor",
      where: [{ field: "userId", value: userId }]
    })
    const asked = decodeCode(body)
    const period = factor === null || Option.isNone(asked)
      ? undefined
      : await periodOf(await symmetricDecrypt({ key: context.secretConfig, data: factor.secret }), asked.value.code)
    if (period === undefined || !(await scope.run(repo.spendCode(userId, period)))) {
      throw new APIError("UNAUTHORIZED", { code: "INVALID_CODE", message: "The code is not valid." })
    }
    if (factor?.verified !== true) await scope.run(endSessions(userId))
  }

  return {
    id: "stoa-one-time-codes",
    init: () => ({
      options: {
        databaseHooks: {
          session: {
            create: {
              before: async ({ userId }, context) => {
                if (context?.path === path) await spend(context, userId)
              }
            }
          }
        }
      }
    }),
    hooks: {
      after: [{
        matcher: (context) => context.path === path && context.context.newSession === null,
        handler: createAuthMiddleware(async (context) => {
          const verified = decodeVerified(context.context.returned)
          if (Option.isSome(verified)) await spend(context, verified.value.user.id)
        })
      }]
    }
  } satisfies BetterAuthPlugin
}
