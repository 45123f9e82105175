import { Cause, Effect, type Exit, Layer, Runtime } from "effect"
import { writeSync } from "node:fs"
import { redactText } from "./telemetry/Redaction.ts"

interface Failure {
  readonly _tag: string
  readonly message?: string
  readonly cause?: unknown
}

const said = new Set<string>()

const tries = 100

/**
 * Writes synchronously, without log and event loop: nothing fails between the message and the exit. Waits for a slow
 * reader.
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

export const say = (words: string): void => {
  const line = `stoa: ${redactText(words)}\n`
  if (!said.has(line)) write(line)
  said.add(line)
}

const recorded = (error: Failure): string => {
  const words = error.message || error._tag
  let first = error.cause
  while (first instanceof Error && first.cause instanceof Error) first = first.cause
  return first instanceof Error && !words.includes(first.message) ? `${words}: ${first.message}` : words
}

const listing = new Set(["InvalidSetting", "CannotStart"])

const listed = (error: Failure): string => {
  const words = recorded(error)
  const lines = listing.has(error._tag) ? words.split("\n") : [words]
  return lines.length === 1 ? words : [`${lines.length} things to mend`, ...lines].join("\n  ")
}

const defect = (reason: unknown): string =>
  `ended by a defect of the program: ${reason instanceof Error ? reason.stack ?? reason.message : String(reason)}`

export const sayWhy = (cause: Cause.Cause<Failure>): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const reason of cause.reasons) {
      if (Cause.isDieReason(reason)) say(defect(reason.defect))
      if (Cause.isFailReason(reason) && reason.error._tag !== "ShowHelp") say(listed(reason.error))
    }
  })

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
    // Only after a signal is an interruption no error for the supervisor.
    if (interrupted && asked) return onExit(0)
    if (interrupted) say("interrupted, and not by a signal")
    return Runtime.defaultTeardown(exit, onExit)
  }
  return { teardown }
}

/**
 * Logs unhandled rejections and keeps the process: a hook, task or adapter did not await a promise, and Node.js would
 * end everyone's requests and jobs. Uncaught exceptions still end it: they may leave work half done.
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
