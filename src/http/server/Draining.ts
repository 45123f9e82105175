import { Context } from "effect"

/** The shutdown state of a process. */
export interface Farewell {
  /** The process received a stop signal: readiness fails at once, and connections are closed after their response. */
  begun: boolean
  /** What shutdown waits for, for the log if it is aborted. */
  waitsFor: string
}

/** The shutdown of this process. */
export const Draining = Context.Reference<Farewell>("stoa/http/server/Draining", {
  defaultValue: () => ({ begun: false, waitsFor: "" })
})
