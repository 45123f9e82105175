import { APIError } from "better-auth/api"
import { Context, Effect, Option, Schema } from "effect"
import { AuthRepo } from "../../domain/auth/AuthRepo.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { type KeyScopes, noScope, scopeNamed } from "../../domain/platform/access/ApiKey.ts"
import { grants, isRole, mayGive, mayGrant } from "../../domain/platform/access/Permission.ts"
import { TwoFactorRequired } from "../../domain/platform/errors/ApiErrors.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { guardedRoles } from "../config/AuthConfig.ts"
import type { AuthScope } from "./AuthScope.ts"

export interface SignedIn {
  readonly userId: string
  readonly activeOrganizationId: string | null
  readonly twoFactor: boolean
}

export const authPathOf = ({ url }: Request): string => new URL(url).pathname.replace(/^\/api\/auth/, "")

/** Stored with the keys that the session creates. */
export const SessionFactor = Context.Reference<boolean>("stoa/layers/auth/SessionFactor", { defaultValue: () => false })

interface Invited {
  readonly invitation: { readonly inviterId: string; readonly organizationId: string; readonly role: string }
}

const refused = (code: string, message: string) =>
  Response.json({ code, message }, { status: code === "UNAUTHORIZED" ? 401 : 403 })

const AskedKey = Schema.fromJsonString(
  Schema.Struct({ configId: Schema.optional(Schema.String), prefix: Schema.optional(Schema.String) })
)
const decodeAskedKey = Schema.decodeUnknownOption(AskedKey)

const misfitOf = Effect.fnUntraced(function*(request: Request, held: ReadonlyArray<string>, keyScopes: KeyScopes) {
  if (authPathOf(request) !== "/api-key/create") return undefined
  const asked = decodeAskedKey(yield* Effect.promise(() => request.clone().text()))
  if (Option.isNone(asked)) return undefined
  const { configId = noScope, prefix } = asked.value
  const scope = scopeNamed(keyScopes, configId)
  if (scope === undefined && configId !== noScope) {
    return refused("UNKNOWN_SCOPE", "There is no such scope of keys.")
  }
  if (
    scope !== undefined &&
    (scope.references === "organization" || !mayGive({ permissions: held }, scope.permissions))
  ) {
    return refused("FORBIDDEN", `Keys of the scope '${configId}' are not yours to make.`)
  }
  const taken = Object.values(keyScopes).some((one) => one !== scope && one.prefix === prefix)
  return taken || (scope !== undefined && prefix !== undefined && prefix !== scope.prefix)
    ? refused("FORBIDDEN", "The prefix is that of another scope of keys.")
    : undefined
})

/** Rules that better-auth does not have (contract, platform §4 and §6, defect 14). */
export const authGuards = (scope: AuthScope) =>
  Effect.gen(function*() {
    const repo = yield* AuthRepo
    const { defaultOrganizationId, keyScopes, roles } = yield* StoreSettings
    const guarded = guardedRoles((yield* AppConfig).auth)

    return {
      organizationHooks: {
        // One statement that fails for a store with rows: better-auth would delete the members first.
        beforeDeleteOrganization: async ({ organization }: { readonly organization: { readonly id: string } }) => {
          const gone = organization.id !== defaultOrganizationId && await scope.run(repo.removeEmpty(organization.id))
          if (!gone) {
            throw new APIError("CONFLICT", { code: "ORGANIZATION_IN_USE", message: "The organization holds a store." })
          }
        },
        beforeAcceptInvitation: async ({ invitation }: Invited) => {
          const role = await scope.run(repo.roleOf(invitation.inviterId, invitation.organizationId))
          const permissions = role === undefined ? [] : roles[role] ?? []
          const mayInvite = role !== undefined && grants(permissions, "staff:manage") &&
            isRole(roles, invitation.role) &&
            mayGrant({ role, permissions }, roles, invitation.role)
          if (!mayInvite) {
            throw new APIError("FORBIDDEN", {
              code: "INVITER_LACKS_AUTHORITY",
              message: "The person who invited you may not give this role any more."
            })
          }
        }
      },
      ofKeys: Effect.fnUntraced(function*(
        request: Request,
        session: SignedIn | undefined,
        answer: Effect.Effect<Response, never, CurrentActor>
      ) {
        if (session === undefined) return refused("UNAUTHORIZED", "Unauthorized")
        const organizationId = session.activeOrganizationId ?? defaultOrganizationId
        const role = yield* repo.roleOf(session.userId, organizationId)
        if (role !== undefined && guarded.has(role) && !session.twoFactor) {
          return refused("TWO_FACTOR_REQUIRED", TwoFactorRequired.of().error.message)
        }
        const held = role === undefined ? [] : roles[role] ?? []
        if (!grants(held, "api-keys:manage")) {
          return refused("FORBIDDEN", "Permission 'api-keys:manage' is required.")
        }
        const misfit = yield* misfitOf(request, held, keyScopes)
        if (misfit !== undefined) return misfit
        const actor = yield* CurrentActor
        return yield* answer.pipe(
          Effect.provideService(CurrentActor, { ...actor, userId: session.userId, organizationId }),
          Effect.provideService(SessionFactor, session.twoFactor)
        )
      })
    }
  })
