import { Context } from "effect"

/**
 * Nesting depth of hooks around the current fiber; 0 outside of any. It is inherited by services that a handler calls
 * and effects that its promise runs, but not by jobs and messages to entities.
 */
export const HookDepth = Context.Reference<number>("stoa/domain/hooks/HookDepth", { defaultValue: () => 0 })

/** Maximum depth: a handler that causes the same operation would otherwise recurse forever. */
export const deepestHook = 5

/** Why a hook was not called. */
export const tooDeep = (key: string): string =>
  `The hooks of ${key} were not called: they stand inside of ${deepestHook} others. Does a hook cause its own operation?`
