import { apiKey } from "@better-auth/api-key"
import type { BetterAuthOptions } from "better-auth"
import { bearer } from "better-auth/plugins/bearer"
import { organization } from "better-auth/plugins/organization"
import { twoFactor } from "better-auth/plugins/two-factor"
import { type KeyScope, type KeyScopes, noScope } from "../../domain/access/KeyScope.ts"

/** Settings that affect the tables: a test compares the models with `src/domain/auth/migrations.ts`. */
export interface ModelOptions {
  /** Scopes of users' API keys; undefined where keys are disabled. */
  readonly apiKeys: KeyScopes | undefined
  readonly twoFactor: boolean
  readonly allowOrganizationCreation: boolean
  /** Shown by authenticator apps. */
  readonly issuer: string
  readonly organizationHooks?: NonNullable<Parameters<typeof organization>[0]>["organizationHooks"]
}

/** Seconds that an invitation can be accepted: seven days (contract, platform §6). */
const invitationSeconds = 604_800

/** Permissions and limits of a key are read from its scope at the time of use (`domain/access/ActorOf.ts`). */
const keysOf = (configId: string, scope?: KeyScope) => ({
  configId,
  enableMetadata: scope?.metadata ?? false,
  // A key has no hidden limit (contract §1.5).
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

/** Codes of authenticator apps. */
export const totpOptions = { digits: 6, period: 30 } as const

const factors = (issuer: string) =>
  twoFactor({
    issuer,
    twoFactorTable: "two_factors",
    totpOptions,
    backupCodeOptions: { amount: 10, storeBackupCodes: "encrypted" },
    accountLockout: { enabled: true, maxFailedAttempts: 10, durationSeconds: 900 }
  })

/** The plugins of better-auth, names of its tables and additional fields. */
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
    // Last, so that it shows the token only of a session that remains.
    bearer()
  ]
} satisfies BetterAuthOptions)
