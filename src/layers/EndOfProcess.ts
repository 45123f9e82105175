import { Cause, Effect, type Exit, Layer, Runtime } from "effect"
import { writeSync } from "node:fs"
import { redactText } from "./telemetry/Redaction.ts"

interface Failure {
  readonly _tag: string
  readonly message?: string
  readonly cause?: unknown
}

/** Lines that were written: what ends a start is said at once, and not again when all has been released. */
const said = new Set<string>()

/** How often a full pipe is tried again, ten milliseconds apart. */
const tries = 100

/**
 * Writes to the file itself: that needs no log and no event loop, so nothing can fail between the words and the end. A
 * reader that is gone hears nothing; one that is slow is waited for.
 */
const write = (text: string): void => {
  for (let left = tries; left > 0; left--) {
    try {
      writeSync(2, text)
      return
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

/** Writes one line to standard error. */
export const say = (words: string): void => {
  const line = `stoa: ${redactText(words)}\n`
  if (!said.has(line)) write(line)
  said.add(line)
}

/** What an error says, and what the first one behind it says: for a migration the message of the database. */
const recorded = (error: Failure): string => {
  const words = error.message || error._tag
  let first = error.cause
  while (first instanceof Error && first.cause instanceof Error) first = first.cause
  return first instanceof Error && !words.includes(first.message) ? `${words}: ${first.message}` : words
}

/** Failures whose message has a line for each thing that is wrong. */
const listing = new Set(["InvalidSetting", "CannotStart"])

const listed = (error: Failure): string => {
  const words = recorded(error)
  const lines = listing.has(error._tag) ? words.split("\n") : [words]
  return lines.length === 1 ? words : [`${lines.length} things to mend`, ...lines].join("\n  ")
}

/** A defect with its origin: nothing else helps to find it. */
const defect = (reason: unknown): string =>
  `ended by a defect of the program: ${reason instanceof Error ? reason.stack ?? reason.message : String(reason)}`

/** Says why an effect failed: one line for what somebody can mend, the whole story where something is broken inside. */
export const sayWhy = (cause: Cause.Cause<Failure>): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const reason of cause.reasons) {
      if (Cause.isDieReason(reason)) say(defect(reason.defect))
      // How a command is used was shown already, with what is wrong.
      if (Cause.isFailReason(reason) && reason.error._tag !== "ShowHelp") say(listed(reason.error))
    }
  })

/** Watches for what ends the process past every effect, and for the signals that ask it to end. */
export const watchEnd = (): { readonly teardown: Runtime.Teardown } => {
  let asked = false
  const ask = () => {
    asked = true
  }
  process.once("SIGINT", ask).once("SIGTERM", ask)
  process.on("uncaughtException", (error: unknown, origin) => {
    say(`${origin === "unhandledRejection" ? "a promise without a handler failed; " : ""}${defect(error)}`)
    process.exit(1)
  })
  const teardown = <A, E>(exit: Exit.Exit<A, E>, onExit: (code: number) => void): void => {
    const interrupted = exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause)
    // A signal is how a service ends well: only then the interruption is not an error to the supervisor.
    if (interrupted && asked) return onExit(0)
    if (interrupted) say("interrupted, and not by a signal")
    return Runtime.defaultTeardown(exit, onExit)
  }
  return { teardown }
}

/**
 * Keeps the process when a promise without a handler fails, and logs the failure. A hook, a task or an adapter of the
 * deployment started it without awaiting it; Node.js would end the process, with the requests and jobs of all others. An
 * exception that is not caught still ends the process: it may have left work half done.
 */
export const unhandledRejectionsLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const recorded = (reason: unknown) => {
      fork(Effect.logError("a promise without a handler failed; the code that started it should await it", reason))
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("unhandledRejection", recorded)),
      () => Effect.sync(() => process.off("unhandledRejection", recorded))
    )
  })
)
