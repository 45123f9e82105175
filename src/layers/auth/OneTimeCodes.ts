import { createOTP } from "@better-auth/utils/otp"
import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth"
import { APIError, createAuthMiddleware } from "better-auth/api"
import { symmetricDecrypt } from "better-auth/crypto"
import { type Effect, Option, Schema } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import type { TwoFactorRepo } from "../../domain/auth/TwoFactorRepo.ts"
import { totpOptions } from "./AuthModels.ts"
import type { AuthScope } from "./AuthScope.ts"

/** What the codes of authenticator apps are judged with. */
export interface OneTimeCodeParts {
  readonly scope: AuthScope
  readonly factors: TwoFactorRepo["Service"]
  /** Ends all sessions of a user, and this process knows it when it is done. */
  readonly endSessions: (userId: string) => Effect.Effect<void, never, CurrentActor>
}

const path = "/two-factor/verify-totp"

interface Factor {
  readonly secret: string
  readonly verified: boolean | null
}

const decodeCode = Schema.decodeUnknownOption(Schema.Struct({ code: Schema.String }))
const decodeVerified = Schema.decodeUnknownOption(Schema.Struct({ user: Schema.Struct({ id: Schema.String }) }))

/** The period whose code this is: those that better-auth accepts, and one more, since time went on while it judged. */
const periodOf = async (secret: string, code: string): Promise<number | undefined> => {
  const otp = createOTP(secret, totpOptions)
  const now = Math.floor(Date.now() / (totpOptions.period * 1_000))
  for (const period of [now - 2, now - 1, now, now + 1]) {
    if (await otp.hotp(period) === code) return period
  }
  return undefined
}

/**
 * Makes a code of an authenticator app serve once: better-auth accepts it for as long as it is shown. The database says
 * which of several requests is the first, before there is a session. The first code of a new factor also ends all sessions
 * of its user: those that were made without a code.
 */
export const oneTimeCodes = ({ endSessions, factors, scope }: OneTimeCodeParts) => {
  const spend = async ({ body, context }: GenericEndpointContext, userId: string): Promise<void> => {
    const factor = await context.adapter.findOne<Factor>({
      model: "twoFactor",
      where: [{ field: "userId", value: userId }]
    })
    const asked = decodeCode(body)
    const period = factor === null || Option.isNone(asked)
      ? undefined
      : await periodOf(await symmetricDecrypt({ key: context.secretConfig, data: factor.secret }), asked.value.code)
    if (period === undefined || !(await scope.run(factors.spend(userId, period)))) {
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
        // A code that is shown in a session begins no other one, and is used up all the same.
        matcher: (context) => context.path === path && context.context.newSession === null,
        handler: createAuthMiddleware(async (context) => {
          const verified = decodeVerified(context.context.returned)
          if (Option.isSome(verified)) await spend(context, verified.value.user.id)
        })
      }]
    }
  } satisfies BetterAuthPlugin
}
