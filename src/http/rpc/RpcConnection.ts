import { Context, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { RequestFacts } from "../server/RequestId.ts"

/** What a call came over: a WebSocket, or one request over HTTP with one or more calls. */
export interface Connection {
  readonly kind: "socket" | "http"
  readonly remoteAddress: HttpServerRequest.HttpServerRequest["remoteAddress"]
  readonly facts: RequestFacts
  /** Calls under way, without streams: those last as long as their reader wants. */
  calls: number
  streams: number
  /** A valid key was shown. */
  known: boolean
  /** The process is about to end: no new calls. */
  draining: boolean
}

/** A connection on which no call was made yet. */
export const newConnection = (
  of: Pick<Connection, "kind" | "remoteAddress" | "facts">
): Connection => ({ ...of, calls: 0, streams: 0, known: false, draining: false })

/** The connection of the current call. */
export const RpcConnection = Context.Reference<Connection>("stoa/http/rpc/RpcConnection", {
  defaultValue: () => newConnection({ kind: "http", remoteAddress: Option.none(), facts: {} })
})
