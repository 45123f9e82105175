import { Context, Effect, Metric } from "effect"
import { monitorEventLoopDelay, performance } from "node:perf_hooks"

const resolution = 20

const published = <Input, State>(metric: Metric.Metric<Input, State>, get: () => State) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      Metric.registerUnsafe(metric, Context.empty(), { get, update: () => undefined, modify: () => undefined })
    ),
    (registration) => Effect.sync(() => registration.remove())
  )

const gauge = (name: string, description: string, read: () => number) =>
  published(Metric.gauge(name, { description }), () => ({ value: read() }))

const counter = (name: string, description: string, read: () => number) =>
  published(Metric.counter(name, { description, incremental: true }), () => ({ count: read(), incremental: true }))

/** The timer's own interval is not delay. */
const delay = (measured: number): number => Math.max(0, measured / 1e6 - resolution) / 1_000

const eventLoop = Effect.fnUntraced(function*(histogram: ReturnType<typeof monitorEventLoopDelay>) {
  const lag = (of: string) => `Delay of the event loop since it was asked before: ${of}`
  yield* gauge("nodejs_eventloop_lag_p50_seconds", lag("median"), () => delay(histogram.percentile(50)))
  yield* gauge("nodejs_eventloop_lag_p99_seconds", lag("99th percentile"), () => delay(histogram.percentile(99)))
  yield* gauge("nodejs_eventloop_lag_max_seconds", lag("maximum"), () => delay(histogram.max))
  yield* counter(
    "nodejs_eventloop_active_seconds_total",
    "Time the event loop was busy; a rate near 1 means that the process is at its limit",
    () => performance.eventLoopUtilization().active / 1_000
  )
})

const memory = (read: (usage: NodeJS.MemoryUsage) => number) => () => read(process.memoryUsage())

/**
 * Processor, memory and event loop under the usual names of Node.js, for ready-made dashboards. After an export,
 * `restart` begins a new measurement.
 */
export const processMetrics = Effect.gen(function*() {
  const histogram = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const started = monitorEventLoopDelay({ resolution })
      started.enable()
      return started
    }),
    (started) => Effect.sync(() => started.disable())
  )
  yield* eventLoop(histogram)
  yield* counter("process_cpu_seconds_total", "Processor time, user and system", () => {
    const { system, user } = process.cpuUsage()
    return (system + user) / 1e6
  })
  yield* gauge(
    "process_start_time_seconds",
    "When the process started, seconds since 1970",
    () => performance.timeOrigin / 1_000
  )
  yield* gauge("process_resident_memory_bytes", "Resident memory", memory(({ rss }) => rss))
  yield* gauge("nodejs_heap_size_total_bytes", "Heap, reserved", memory(({ heapTotal }) => heapTotal))
  yield* gauge("nodejs_heap_size_used_bytes", "Heap, in use", memory(({ heapUsed }) => heapUsed))
  yield* gauge("nodejs_external_memory_bytes", "Memory outside of the heap", memory(({ external }) => external))
  return { restart: Effect.sync(() => histogram.reset()) }
})
