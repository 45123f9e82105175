import { Data } from "effect"
import type { OutboundError } from "stoa/plugin"

/** The store did not do it, and may do it later. */
export class ChannelUnavailable extends Data.TaggedError("ChannelUnavailable")<{
  readonly message: string
  /** As long as the store asks to be left alone: not a failure of ours. */
  readonly retryAfterMs?: number
}> {}

/** The store will never do it. */
export class ChannelRefused extends Data.TaggedError("ChannelRefused")<{ readonly message: string }> {}

/** The store does not accept the credentials, or no longer. */
export class CredentialsRefused extends Data.TaggedError("CredentialsRefused")<{ readonly message: string }> {}

export type ChannelError = ChannelUnavailable | ChannelRefused | CredentialsRefused

/** Statuses below 500 after which another try may end otherwise. */
const passing: ReadonlySet<number> = new Set([408, 409, 425, 429])

/** Classifies an error of `outbound`; bodies of answers may contain secrets, so no message has any. */
export const channelError = (error: OutboundError): ChannelError => {
  const { message } = error
  switch (error._tag) {
    case "OutboundPaused":
      return new ChannelUnavailable({ message, retryAfterMs: error.retryAfterMs })
    case "OutboundRefused":
      return new ChannelRefused({ message })
    case "OutboundFailed":
      return error.reason === "tooLarge" ? new ChannelRefused({ message }) : new ChannelUnavailable({ message })
    case "OutboundRejected": {
      const { headers, status } = error
      if (status === 401 || status === 403) return new CredentialsRefused({ message })
      if (status < 500 && !passing.has(status)) return new ChannelRefused({ message })
      if (status !== 429) return new ChannelUnavailable({ message })
      const seconds = Number(headers["retry-after"] ?? 2)
      // A date in place of seconds.
      return new ChannelUnavailable({ message, retryAfterMs: (seconds >= 0 ? seconds : 60) * 1_000 })
    }
  }
}
