import { Context, Effect, Layer, Option } from "effect"
import { eventTypes } from "./Event.ts"

/** The events that a plugin declares. */
interface Announcing {
  readonly events: ReadonlyArray<string>
}

/**
 * Names of the changes that are emitted as events: those of the core and of plugins. Other changes are only audited.
 */
export class DeclaredEvents extends Context.Service<DeclaredEvents, {
  readonly names: ReadonlySet<string>
}>()("stoa/domain/events/DeclaredEvents") {}

/** The events of the core and of these plugins. */
export const declaredEvents = (plugins: ReadonlyArray<Announcing>) =>
  Layer.succeed(DeclaredEvents, {
    names: new Set<string>([...eventTypes, ...plugins.flatMap(({ events }) => events)])
  })

/** The events of this process. Defaults to those of the core, for layers that tests build without plugins. */
export const announcedNames: Effect.Effect<ReadonlySet<string>> = Effect.map(
  Effect.serviceOption(DeclaredEvents),
  Option.match({ onNone: (): ReadonlySet<string> => new Set(eventTypes), onSome: ({ names }) => names })
)
