import { Cause, Deferred, Effect, Exit, Latch, Metric } from "effect"
import type { Scope } from "effect"

/**
 * Group commit without timers: a batch has the items submitted while the previous one was being written. A single
 * caller therefore never waits, and a thousand callers share a few statements. `submit` returns the item's result, or
 * fails with the cause of the batch; the caller decides whether to retry alone.
 */
export interface Batcher<in A, out B, out E> {
  readonly submit: (item: A) => Effect.Effect<B, E>
}

/** The writer of a batcher, and its name in logs and metrics. */
export interface Options<A, B, E> {
  /** Label of the metrics and the log lines, e.g. `messages.save`. */
  readonly name: string
  /** Maximum items of one `write`; the rest forms the next batch. */
  readonly maxSize: number
  /** Writes a batch and returns one result per item, in the order of the items. */
  readonly write: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
}

/** Items per written batch, by batcher. */
export const batchSize = Metric.histogram("stoa_batch_size", {
  description: "Items per batch of statements done together",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256]
})

/** Batches that failed as a unit, by batcher. Each of their items is then tried alone, which is slow: watch it. */
export const batchFailures = Metric.counter("stoa_batch_failures", {
  description: "Batches that failed as a whole; their items were then done alone",
  incremental: true
})

/** Timeout of a batch, after which its callers fail. */
const timeout = "20 seconds"

interface Waiting<A, B, E> {
  readonly item: A
  readonly answer: Deferred.Deferred<B, E>
}

/**
 * Builds a batcher whose writes run in the current scope, one at a time. Writes use the services of this constructor,
 * never those of a caller: a transaction of a caller's fiber cannot leak into a batch. A caller that is interrupted
 * while it waits leaves the queue. One whose batch is being written only stops waiting, so the other items are not
 * affected. When the scope closes, all waiting callers are interrupted.
 */
export const make = Effect.fnUntraced(function*<A, B, E>(
  options: Options<A, B, E>
): Effect.fn.Return<Batcher<A, B, E>, never, Scope.Scope> {
  const size = Metric.withAttributes(batchSize, { batcher: options.name })
  const failures = Metric.withAttributes(batchFailures, { batcher: options.name })
  const someoneWaits = Latch.makeUnsafe(false)
  let line: Array<Waiting<A, B, E>> = []
  let closed = false

  const settle = (batch: ReadonlyArray<Waiting<A, B, E>>, exit: Exit.Exit<ReadonlyArray<B>, E>) => {
    batch.forEach((waiting, index) => Deferred.doneUnsafe(waiting.answer, Exit.map(exit, (all) => all[index] as B)))
  }

  const writeOne = (batch: ReadonlyArray<Waiting<A, B, E>>) =>
    Effect.suspend(() => options.write(batch.map((waiting) => waiting.item))).pipe(
      // Too few results would leave callers with `undefined`; it is a bug of the writer and fails the batch.
      Effect.filterOrElse(
        (answers) => answers.length === batch.length,
        (answers) => Effect.die(new Error(`${options.name}: ${answers.length} answers for ${batch.length} items`))
      ),
      // Longer than any statement may take: a dead connection must not block all callers forever.
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.die(new Cause.TimeoutError(options.name)) }),
      Effect.tap(() => Metric.update(size, batch.length)),
      Effect.tapCause((cause) =>
        Metric.update(failures, 1).pipe(
          Effect.andThen(Effect.logWarning(`Batch ${options.name} of ${batch.length} failed`, cause))
        )
      ),
      Effect.onExit((exit) => Effect.sync(() => settle(batch, exit))),
      Effect.exit
    )

  const drain = Effect.gen(function*() {
    while (true) {
      yield* someoneWaits.await
      while (line.length > 0) {
        const batch = line.slice(0, options.maxSize)
        line = line.slice(options.maxSize)
        yield* writeOne(batch)
      }
      someoneWaits.closeUnsafe()
    }
  })

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closed = true
      settle(line, Exit.interrupt())
      line = []
    })
  )
  yield* Effect.forkScoped(drain)

  const submit = (item: A): Effect.Effect<B, E> =>
    Effect.suspend(() => {
      if (closed) return Effect.interrupt
      const waiting: Waiting<A, B, E> = { item, answer: Deferred.makeUnsafe() }
      line.push(waiting)
      someoneWaits.openUnsafe()
      return Effect.onInterrupt(Deferred.await(waiting.answer), () =>
        Effect.sync(() => {
          line = line.filter((other) => other !== waiting)
        }))
    })
  return { submit }
})
