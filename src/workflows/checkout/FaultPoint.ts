import { Context, Effect } from "effect"

/** The boundaries between the steps of a checkout, where crash tests kill the process. */
export const faultPoints = ["claimed", "reserved", "authorized", "created", "captured", "settled"] as const

/** The boundaries of a failed checkout: after a compensation, and after all of them. */
export const undoFaultPoints = ["undone", "failed"] as const

export type FaultPoint = typeof faultPoints[number] | typeof undoFaultPoints[number]

/** Runs at each boundary; only crash tests provide it. */
export const AtFaultPoint = Context.Reference<(point: FaultPoint) => Effect.Effect<void>>(
  "stoa/workflows/checkout/AtFaultPoint",
  { defaultValue: () => () => Effect.void }
)

/** Marks a boundary between two steps. */
export const passing = (point: FaultPoint): Effect.Effect<void> => Effect.flatMap(AtFaultPoint, (at) => at(point))
