import { Context, Effect, Layer, Option } from "effect"
import { eventTypes } from "./Event.ts"

/** A plugin, as far as its events go. */
interface Announcing {
  readonly events: ReadonlyArray<string>
}

/** Names of the changes that are announced: those of the core, and those that plugins declare. Others are only audited. */
export class DeclaredEvents extends Context.Service<DeclaredEvents, {
  readonly names: ReadonlySet<string>
}>()("stoa/domain/events/DeclaredEvents") {}

/** The events of the core and of these plugins. */
export const declaredEvents = (plugins: ReadonlyArray<Announcing>) =>
  Layer.succeed(DeclaredEvents, {
    names: new Set<string>([...eventTypes, ...plugins.flatMap(({ events }) => events)])
  })

/** Those of this process; of the core alone where a part of it is built by itself, as some tests do. */
export const announcedNames: Effect.Effect<ReadonlySet<string>> = Effect.map(
  Effect.serviceOption(DeclaredEvents),
  Option.match({ onNone: (): ReadonlySet<string> => new Set(eventTypes), onSome: ({ names }) => names })
)
