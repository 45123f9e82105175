import { Effect, Fiber, Layer, Tracer } from "effect"
import { Statement } from "effect/sql"
import { createServer } from "node:http"
import { registerHooks } from "node:module"
import { Relay } from "../../src/domain/platform/events/Relay.ts"
import { BackgroundFibers, type FiberInside } from "./BackgroundFibers.ts"
import type { Counts } from "./Messages.ts"
import { profileBySource } from "./Profile.ts"

/*
 * Loaded into the server before anything else (`node --import`). It counts what the fibers do from outside, so that the
 * service has no code for it, and answers with the counts on a separate port; at `/relay` once all changes are relayed.
 */

const counts = { operations: 0, fibers: 0, spans: 0 }
const statements = new Map<string, number>()

const fiber: FiberInside = Object.getPrototypeOf(Effect.runFork(Effect.void))
const background = new BackgroundFibers(fiber, () => counts.fibers++)
const inForeground = () => !background.has(Fiber.getCurrent())

const { runLoop } = fiber
fiber.runLoop = function(effect) {
  const result = runLoop.call(this, effect)
  if (!background.has(this)) counts.operations += this.currentOpCount
  return result
}

const span = Tracer.nativeTracer.span.bind(Tracer.nativeTracer)
Object.assign(Tracer.nativeTracer, {
  span: (options: Parameters<typeof span>[0]) => {
    if (inForeground()) counts.spans++
    return span(options)
  }
})

interface StatementInside {
  compile(): readonly [text: string, parameters: ReadonlyArray<unknown>]
  withConnectionSpan(...rest: Array<unknown>): unknown
}

const statement: StatementInside = Object.getPrototypeOf(
  Statement.make(Effect.never, Statement.makeCompilerSqlite(), [], undefined)``
)
const { withConnectionSpan } = statement
statement.withConnectionSpan = function(...rest) {
  if (inForeground()) {
    const [text] = this.compile()
    statements.set(text, (statements.get(text) ?? 0) + 1)
  }
  return withConnectionSpan.apply(this, rest)
}

// The relay commits each 25 ms for all flows since then: its share of one flow says how fast the machine is.
let relayAll: Effect.Effect<unknown> = Effect.void
const layer = Layer.effect(
  Relay,
  Effect.map(Relay.make, (relay) => {
    relayAll = Effect.repeat(relay.once, { until: (count) => count === 0 })
    return { ...relay, run: Effect.never }
  })
)
Reflect.set(Relay, "layer", layer)

const configurations: Readonly<Record<string, string>> = { none: "./NoPlugins.ts", all: "./AllPlugins.ts" }
const named = configurations[process.env["BENCH_PLUGINS"] ?? ""]
if (named !== undefined) {
  const configuration = new URL(named, import.meta.url).href
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.endsWith("/commerce.config.ts") && context.parentURL !== configuration
        ? next(configuration, context)
        : next(specifier, context)
  })
}

const sources = process.env["BENCH_BY"] === undefined ? undefined : profileBySource(fiber, background)

createServer(async ({ url }, response) => {
  if (url === "/relay") await Effect.runPromise(relayAll)
  const answer: Counts = {
    ...counts,
    statements: Object.fromEntries(statements),
    sources: Object.fromEntries(sources?.() ?? [])
  }
  response.end(JSON.stringify(answer))
}).listen(Number(process.env["BENCH_COUNTER_PORT"]), "127.0.0.1").unref()
