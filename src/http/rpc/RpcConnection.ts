import { Context, Effect, Option } from "effect"
import { Headers } from "effect/http"
import type { Actor } from "../../domain/access/Actor.ts"
import type { Caller } from "../access/Actors.ts"
import type { RequestFacts } from "../server/RequestId.ts"
import type { CallHeaders } from "./CallHeaders.ts"

/** Who makes a call, with what is known of his credential and without. */
export interface Found {
  readonly caller: Caller
  /** As changes name him; secret of the cart and id of the request are each call's own. */
  readonly actor: Actor
}

/** Who called last on a connection, and until when that need not be found out anew. */
export interface KnownCaller {
  /** The headers that showed it. */
  readonly headers: CallHeaders
  readonly found: Found
  /** Changes of the tables of access that this process had heard of: one more, and nothing is known. */
  readonly changes: number
  readonly until: number
}

/** What the request that opened a connection showed. */
export interface Opening {
  readonly headers: Headers.Headers
  readonly remoteAddress: Option.Option<string>
  readonly facts: RequestFacts
}

/**
 * What a call came over: a WebSocket, or one request over HTTP with one or more calls. It counts what is under way on it,
 * so that nobody has more of it than one may have.
 */
export class Connection implements Opening {
  readonly kind: "socket" | "http"
  readonly headers: Headers.Headers
  readonly remoteAddress: Option.Option<string>
  readonly facts: RequestFacts
  /** The process is about to end: no new calls. */
  draining = false
  /** Somebody showed a key that opens something. */
  known = false
  caller: KnownCaller | undefined = undefined
  /** Calls that are being answered, streams apart: those last as long as their reader wants. */
  calls = 0
  streams = 0
  #waiting: Array<() => void> = []

  constructor(kind: "socket" | "http", { facts, headers, remoteAddress }: Opening) {
    this.kind = kind
    this.headers = headers
    this.remoteAddress = remoteAddress
    this.facts = facts
  }

  begin(stream: boolean): void {
    if (stream) this.streams++
    else this.calls++
  }

  end(stream: boolean): void {
    if (stream) this.streams--
    else this.calls--
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }

  /** Waits until fewer calls than that are being answered. */
  fewerThan(calls: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.calls < calls) return Effect.void
      const ended = Effect.callback<void>((resume) => void this.#waiting.push(() => resume(Effect.void)))
      return Effect.andThen(ended, this.fewerThan(calls))
    })
  }
}

/** The connection of the call that is being answered. */
export const RpcConnection = Context.Reference<Connection>("stoa/http/rpc/RpcConnection", {
  defaultValue: () => new Connection("http", { headers: Headers.empty, remoteAddress: Option.none(), facts: {} })
})
