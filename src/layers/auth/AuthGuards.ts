import { APIError } from "better-auth/api"
import { Effect, Option, Schema } from "effect"
import { isRole, mayGrant } from "../../domain/access/Granting.ts"
import { grants } from "../../domain/access/Permission.ts"
import { MembershipRepo } from "../../domain/auth/MembershipRepo.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import type { AuthScope } from "./AuthScope.ts"

/** Whoever asks, as a session tells. */
export interface SignedIn {
  readonly userId: string
  readonly activeOrganizationId: string | null
}

interface Invited {
  readonly invitation: { readonly inviterId: string; readonly organizationId: string; readonly role: string }
}

const refused = (code: string, message: string) =>
  Response.json({ code, message }, { status: code === "UNAUTHORIZED" ? 401 : 403 })

const MadeKey = Schema.fromJsonString(Schema.Struct({ id: Schema.String }))
const decodeMadeKey = Schema.decodeUnknownOption(MadeKey)

/** Rules of ours that better-auth does not have (contract, platform §4 and §6, and defect 14). */
export const authGuards = (scope: AuthScope) =>
  Effect.gen(function*() {
    const repo = yield* MembershipRepo
    const { defaultOrganizationId, roles } = yield* StoreSettings
    const permissionsIn = (userId: string, organizationId: string) =>
      Effect.map(repo.roleOf(userId, organizationId), (role) => role === undefined ? [] : roles[role] ?? [])

    return {
      organizationHooks: {
        // Deleted here, in one statement that a store's rows forbid: by itself better-auth would take the members away first.
        beforeDeleteOrganization: async ({ organization }: { readonly organization: { readonly id: string } }) => {
          const gone = organization.id !== defaultOrganizationId && await scope.run(repo.removeEmpty(organization.id))
          if (!gone) {
            throw new APIError("CONFLICT", { code: "ORGANIZATION_IN_USE", message: "The organization holds a store." })
          }
        },
        // What the inviter could give when he invited he may have lost since.
        beforeAcceptInvitation: async ({ invitation }: Invited) => {
          const role = await scope.run(repo.roleOf(invitation.inviterId, invitation.organizationId))
          const permissions = role === undefined ? [] : roles[role] ?? []
          const mayInvite = role !== undefined && grants(permissions, "staff:manage") &&
            isRole(roles, invitation.role) &&
            mayGrant({ role, permissions }, roles, invitation.role)
          if (!mayInvite) {
            throw new APIError("FORBIDDEN", {
              code: "INVITER_LACKS_AUTHORITY",
              message: "Whoever invited you may not give this role any more."
            })
          }
        }
      },
      /** Answers a request about API keys, if its user may manage them where he acts. */
      ofKeys: Effect.fnUntraced(function*(
        request: Request,
        session: SignedIn | undefined,
        answer: Effect.Effect<Response>
      ) {
        if (session === undefined) return refused("UNAUTHORIZED", "Unauthorized")
        const organizationId = session.activeOrganizationId ?? defaultOrganizationId
        const held = yield* permissionsIn(session.userId, organizationId)
        if (!grants(held, "api-keys:manage")) return refused("FORBIDDEN", "Permission 'api-keys:manage' is required.")
        const response = yield* answer
        if (!request.url.endsWith("/api-key/create") || !response.ok) return response
        const made = decodeMadeKey(yield* Effect.promise(() => response.clone().text()))
        yield* Option.match(made, { onNone: () => Effect.void, onSome: ({ id }) => repo.bindKey(id, organizationId) })
        return response
      })
    }
  })
