import { Context, Effect } from "effect"

/** The boundaries between the steps of a checkout; a process may die at any of them. */
export const faultPoints = ["claimed", "reserved", "authorized", "created", "captured", "settled"] as const

/** The same for a checkout that fails: after a compensation, and after all of them, before anybody was told. */
export const undoFaultPoints = ["undone", "failed"] as const

export type FaultPoint = typeof faultPoints[number] | typeof undoFaultPoints[number]

/** What happens at a step boundary: nothing, unless a crash test wants the process to die right there. */
export const AtFaultPoint = Context.Reference<(point: FaultPoint) => Effect.Effect<void>>(
  "stoa/workflows/checkout/AtFaultPoint",
  { defaultValue: () => () => Effect.void }
)

/** Passes a step boundary. */
export const passing = (point: FaultPoint): Effect.Effect<void> => Effect.flatMap(AtFaultPoint, (at) => at(point))
