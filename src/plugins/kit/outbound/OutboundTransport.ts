import { Data, type Effect, type Scope, type Stream } from "effect"

/** A request as it is sent. */
export interface OutboundMessage {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | number>>
  readonly text: string | undefined
  /** The deployment has configured where it goes; otherwise somebody may have named it. */
  readonly isConfigured: boolean
}

interface OutboundHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/** An answer with a status below 300. */
export interface OutboundAnswer extends OutboundHead {
  readonly body: string
}

/** The same while its body still arrives; it fails when the connection breaks off. */
export interface OutboundStream extends OutboundHead {
  readonly body: Stream.Stream<Uint8Array, OutboundFailed>
}

/** The URL is not one that may be called; nothing was sent. */
export class OutboundRefused extends Data.TaggedError("OutboundRefused")<{ readonly message: string }> {}

/** No answer: the host was not found, did not answer in time, or broke off. What was sent may have taken effect. */
export class OutboundFailed extends Data.TaggedError("OutboundFailed")<{
  readonly reason: "unresolved" | "noAnswer" | "timeout" | "tooLarge"
  readonly message: string
}> {}

/** Sends one request, to an address that was checked; follows no redirects. The connection ends with the scope. */
export type OutboundTransport = (
  message: OutboundMessage
) => Effect.Effect<OutboundStream, OutboundFailed | OutboundRefused, Scope.Scope>
