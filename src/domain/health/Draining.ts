import { Context } from "effect"

/** How a process ends, as it knows itself. */
export interface Farewell {
  /** It was told to stop: probes are told so at once, and connections are not kept. */
  begun: boolean
  /** What its end waits for now, for whoever reads that it was given up. */
  waitsFor: string
}

/** The end of this process. */
export const Draining = Context.Reference<Farewell>("stoa/domain/health/Draining", {
  defaultValue: () => ({ begun: false, waitsFor: "" })
})
