import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { eventTypes } from "../../domain/events/Event.ts"
import { EventsGroup, StoreEvent } from "../events/EventsApi.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { unavailable } from "./RpcErrors.ts"
import { pageFields } from "./RpcLists.ts"
import { likeRoutes } from "./RpcRules.ts"

const like = likeRoutes(EventsGroup)

const asked = {
  /** The sequence to start behind. Default 0, the beginning. */
  after: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  type: Schema.optional(Schema.Literals(eventTypes))
}

/** The announced events of the organization, as `GET /api/events` has them. */
export const EventsRpc = RpcGroup.make(
  Rpc.make("list", {
    payload: { ...asked, limit: pageFields.limit },
    success: Schema.Struct({ events: Schema.Array(StoreEvent), next: Schema.Int })
  }).annotateMerge(like("list")),
  // All events behind the cursor and then each new one, in order and without gaps. It ends when the process does: whoever
  // wants to go on asks again behind the last sequence that he has.
  Rpc.make("tail", { payload: asked, success: StoreEvent, error: unavailable, stream: true })
    .annotateMerge(like("list"))
).prefix("events.").middleware(RpcAccess)
