import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { Staff } from "../../domain/staff/Staff.ts"
import { deleted } from "../envelope/Envelope.ts"
import { StaffGroup } from "./StaffApi.ts"

export const staffHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(StaffGroup),
  "staff",
  Effect.fnUntraced(function*(handlers) {
    const staff = yield* Staff
    return handlers.handleAll({
      listMembers: ({ query }) => staff.list(pageOf(query)),
      addMember: ({ payload }) => staff.add(payload.userId, payload.role),
      listRoles: () => Effect.succeed(staff.roles),
      listInvitations: ({ query }) => staff.invitations(pageOf(query)),
      invite: ({ payload }) => staff.invite(payload.email, payload.role),
      changeRole: ({ params, payload }) => staff.changeRole(params.id, payload.role),
      removeMember: ({ params }) => Effect.as(staff.remove(params.id), deleted)
    })
  })
)
