import { Effect } from "effect"

/** Parts that other plugins add to a plugin: checks before a bill, screens, adapters. */
export interface ExtensionPoint<A> {
  /** Adds a part, in the layer of a plugin that `uses` this service. Dies once the parts have been read. */
  readonly add: (part: A) => Effect.Effect<void>
  /** The parts in the order in which plugins are listed; for handlers, which run after every plugin was built. */
  readonly all: () => ReadonlyArray<A>
}

/**
 * A service that a plugin exports for others to extend it:
 * `class Checks extends Context.Service<Checks, ExtensionPoint<Check>>()("pos/Checks") { static layer = Layer.effect(Checks, extensionPoint()) }`.
 */
export const extensionPoint = <A>(): Effect.Effect<ExtensionPoint<A>> =>
  Effect.sync(() => {
    const parts: Array<A> = []
    let isRead = false
    return {
      add: (part) =>
        Effect.suspend(() => {
          if (isRead) return Effect.die(new Error("Add to an extension point in the layer of a plugin, not later."))
          parts.push(part)
          return Effect.void
        }),
      all: () => {
        isRead = true
        return parts
      }
    }
  })
