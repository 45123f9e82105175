import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { CustomerGroups } from "../../domain/customers/CustomerGroups.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CustomerGroupsGroup } from "./CustomerGroupsApi.ts"

/** Handlers of the routes that `CustomerGroupsApi.ts` declares. */
export const customerGroupsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CustomerGroupsGroup),
  "customerGroups",
  Effect.fnUntraced(function*(handlers) {
    const groups = yield* CustomerGroups
    return handlers.handleAll({
      list: ({ query }) => groups.list(pageOf(query)),
      create: ({ payload }) => groups.create(payload),
      read: ({ params }) => groups.get(params.groupId),
      change: ({ params, payload }) => groups.change(params.groupId, payload),
      remove: ({ params }) => Effect.as(groups.remove(params.groupId), deleted),
      members: ({ params, query }) => groups.members(params.groupId, pageOf(query)),
      join: ({ params }) => Effect.as(groups.setMember(params.groupId, params.customerId, true), { member: true }),
      leave: ({ params }) => Effect.as(groups.setMember(params.groupId, params.customerId, false), { member: false })
    })
  })
)
