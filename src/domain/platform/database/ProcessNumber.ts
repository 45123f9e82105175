import { Context, type Effect } from "effect"

export const processLocks = 0x53746f61

/**
 * A number that no other living process has. Without its lock, the process counts as dead and others take over its
 * work.
 */
export class ProcessNumber extends Context.Service<ProcessNumber, {
  /** Waits while the lock is lost; the number changes then. */
  readonly current: Effect.Effect<number>
}>()("stoa/domain/platform/database/ProcessNumber") {}
