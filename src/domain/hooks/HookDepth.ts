import { Context } from "effect"

/**
 * In how many hooks, one inside of the other, the work of this fiber stands; 0 outside of any. It goes with the fiber,
 * through the services that a handler asks and the effects that its promise runs, not with jobs and messages to actors.
 */
export const HookDepth = Context.Reference<number>("stoa/domain/hooks/HookDepth", { defaultValue: () => 0 })

/** Hooks deeper than this are not called: a handler that causes its own operation would call itself without end. */
export const deepestHook = 5

/** Why a hook was not called. */
export const tooDeep = (key: string): string =>
  `The hooks of ${key} were not called: they stand inside of ${deepestHook} others. Does a hook cause its own operation?`
