import { Context } from "effect"
import type { Standing } from "../../domain/platform/ratelimits/RateLimits.ts"

/** The id of the request that is being answered, as `X-Request-Id` shows it; empty outside of a request. */
export const RequestId = Context.Reference<string>("stoa/http/server/RequestId", { defaultValue: () => "" })

/** What inner layers find out about a request, for log lines and headers. */
export interface RequestFacts {
  organizationId?: string
  standing?: Standing
  /** The answer goes out as its route made it, with any status. */
  isRaw?: boolean
}

export const CurrentRequest = Context.Reference<RequestFacts | undefined>("stoa/http/server/CurrentRequest", {
  defaultValue: () => undefined
})

const acceptable = /^[A-Za-z0-9._-]{1,128}$/

/** A client's own id is echoed when it cannot break a log line or a header; anything else is replaced (contract §0.1). */
export const requestIdOf = (sent: string | undefined): string =>
  sent !== undefined && acceptable.test(sent) ? sent : crypto.randomUUID()

/** The shutdown state of a process. */
export interface Farewell {
  /** The process received a stop signal: readiness fails at once, and connections are closed after their response. */
  begun: boolean
  /** Time of the last sign after that (`performance.now()`) that a proxy does not know it: the signal, or a request. */
  heardAt: number
  /** Proxies probe this process, and none has learned yet that it stops. */
  looksReady: boolean
  /** What shutdown waits for, for the log if it is aborted. */
  waitsFor: string
}

export const Draining = Context.Reference<Farewell>("stoa/http/server/Draining", {
  defaultValue: () => ({ begun: false, heardAt: 0, looksReady: false, waitsFor: "" })
})
