import { createOTP } from "@better-auth/utils/otp"
import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth"
import { APIError, createAuthMiddleware } from "better-auth/api"
import { symmetricDecrypt } from "better-auth/crypto"
import { type Effect, Option, Schema } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import type { AuthRepo } from "../../domain/auth/AuthRepo.ts"
import { totpOptions } from "./AuthModels.ts"
import type { AuthScope } from "./AuthScope.ts"

/** Services of the one-time codes. */
export interface OneTimeCodeParts {
  readonly scope: AuthScope
  readonly repo: AuthRepo["Service"]
  /** Ends all sessions of a user and drops them from the caches of this process. */
  readonly endSessions: (userId: string) => Effect.Effect<void, never, CurrentActor>
}

const path = "/two-factor/verify-totp"

interface Factor {
  readonly secret: string
  readonly verified: boolean | null
}

const decodeCode = Schema.decodeUnknownOption(Schema.Struct({ code: Schema.String }))
const decodeVerified = Schema.decodeUnknownOption(Schema.Struct({ user: Schema.Struct({ id: Schema.String }) }))

/** The period of this code: those that better-auth accepts, and an earlier one, since time passed during its check. */
const periodOf = async (secret: string, code: string): Promise<number | undefined> => {
  const otp = createOTP(secret, totpOptions)
  const now = Math.floor(Date.now() / (totpOptions.period * 1_000))
  for (const period of [now - 2, now - 1, now, now + 1]) {
    if (await otp.hotp(period) === code) return period
  }
  return undefined
}

/**
 * Accepts a code of an authenticator app once: better-auth accepts it for as long as the app shows it. The database decides
 * which of several requests is first, before a session is created. The first code of a new factor also ends all sessions
 * of the user, which were created without a code.
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
      throw new APIError("UNAUTHORIZED", { code: "INVALID_CODE", message: "Invalid code" })
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
        // A code within a session creates no other session, and is used up too.
        matcher: (context) => context.path === path && context.context.newSession === null,
        handler: createAuthMiddleware(async (context) => {
          const verified = decodeVerified(context.context.returned)
          if (Option.isSome(verified)) await spend(context, verified.value.user.id)
        })
      }]
    }
  } satisfies BetterAuthPlugin
}
