import { Context, Effect, Latch, Layer } from "effect"

/** Tells this process that a cycle is open, so that it need not wait until it looks. */
export class CycleStarter extends Context.Service<CycleStarter, {
  readonly start: Effect.Effect<void>
  /** Opens with every `start`; whoever waits closes it before he looks. */
  readonly latch: Latch.Latch
}>()("stoa/workflows/jobs/CycleStarter") {
  static readonly layer = Layer.sync(CycleStarter, () => {
    const latch = Latch.makeUnsafe(false)
    return { latch, start: Effect.asVoid(latch.open) }
  })
}
