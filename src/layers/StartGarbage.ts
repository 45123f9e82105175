import { Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * Gives the system back what loading the program left behind: V8 would keep the space, a third of an idle process, for
 * garbage that never comes. Once, when the first requests have been answered; it takes a tenth of a second. Only this
 * flavour of collection lets go of the young generation.
 */
export const collectStartGarbage = Effect.sync(() => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect === "function") collect({ type: "major", execution: "sync", flavor: "last-resort" })
}).pipe(Effect.delay("2 seconds"))
