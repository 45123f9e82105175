import { Effect, Schedule, Stream } from "effect"
import type { EventType } from "../../domain/events/Event.ts"
import type { StoreEvent } from "../../domain/events/Event.ts"
import type { Refusal } from "../../http/rpc/RpcContract.ts"
import { StoaRpc } from "./StoaRpc.ts"

/** Which events are followed, and from where. */
export interface Followed {
  /** The sequence of the last processed event. Default 0, from the beginning. */
  readonly after?: number
  readonly type?: EventType
}

/** Pause before an ended feed is resumed. */
const again = "500 millis"

/**
 * Every event of the organization, once and in order, across reconnects and restarts of the service: it resumes after
 * the last event it emitted. A consumer that can restart must store the `sequence` of the last processed event. Fails
 * if the service refuses the client.
 */
export const followEvents = ({ after = 0, type }: Followed = {}): Stream.Stream<StoreEvent, Refusal, StoaRpc> =>
  Stream.unwrap(Effect.map(StoaRpc, (rpc) => {
    let cursor = after
    return Stream.suspend(() => rpc["events.tail"]({ after: cursor, ...(type === undefined ? {} : { type }) })).pipe(
      Stream.map((event) => {
        cursor = event.sequence
        return event
      }),
      Stream.catchTags({ RpcClientError: () => Stream.empty, Unavailable: () => Stream.empty }),
      Stream.repeat(Schedule.spaced(again))
    )
  }))
