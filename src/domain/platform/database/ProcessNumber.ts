import { Context, type Effect } from "effect"

/** Namespace of the advisory locks by which processes are known to live; the process number is the second key. */
export const processLocks = 0x53746f61

/**
 * A number of this process that no other living one has. When its lock is gone, the process died or froze, and others take
 * over what it worked on.
 */
export class ProcessNumber extends Context.Service<ProcessNumber, {
  /** Waits while the lock is lost, as when the database restarts; the number is another one after that. */
  readonly current: Effect.Effect<number>
}>()("stoa/domain/platform/database/ProcessNumber") {}
