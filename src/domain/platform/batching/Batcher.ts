import { Cause, Clock, Deferred, Effect, Exit, Latch, Metric } from "effect"
import type { Scope } from "effect"

/** Group commit without timers: a batch takes the items submitted while the previous one was written. */
export interface Batcher<in A, out B, out E> {
  readonly submit: (item: A) => Effect.Effect<B, E>
}

export interface Options<A, B, E> {
  readonly name: string
  readonly maxSize: number
  readonly write: (items: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
}

export const batchSize = Metric.histogram("stoa_batch_size", {
  description: "Items per batch of statements done together",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256]
})

export const batchFailures = Metric.counter("stoa_batch_failures", {
  description: "Batches that failed as a whole; their items were then done alone",
  incremental: true
})

/** Milliseconds; longer than any statement may take. */
const timeout = 20_000

interface Waiting<A, B, E> {
  readonly item: A
  readonly answer: Deferred.Deferred<B, E>
}

type Batch<A, B, E> = ReadonlyArray<Waiting<A, B, E>>

class Line<A, B, E> {
  readonly someoneWaits = Latch.makeUnsafe(false)
  waiting: Array<Waiting<A, B, E>> = []
  writing: { readonly batch: Batch<A, B, E>; readonly until: number } | undefined
  closed = false

  add(waiting: Waiting<A, B, E>): void {
    this.waiting.push(waiting)
    this.someoneWaits.openUnsafe()
  }

  leave(waiting: Waiting<A, B, E>): void {
    this.waiting = this.waiting.filter((other) => other !== waiting)
  }

  next(maxSize: number, until: number): Batch<A, B, E> {
    const batch = this.waiting.slice(0, maxSize)
    this.waiting = this.waiting.slice(maxSize)
    this.writing = { batch, until }
    return batch
  }

  settle(batch: Batch<A, B, E>, exit: Exit.Exit<ReadonlyArray<B>, E>): void {
    this.writing = undefined
    batch.forEach(({ answer }, index) => Deferred.doneUnsafe(answer, Exit.map(exit, (all) => all[index] as B)))
  }

  close(): void {
    this.closed = true
    this.settle([...this.writing?.batch ?? [], ...this.waiting], Exit.interrupt())
    this.waiting = []
  }
}

const draining = <A, B, E>({ maxSize, name, write }: Options<A, B, E>, line: Line<A, B, E>) => {
  const size = Metric.withAttributes(batchSize, { batcher: name })
  const failures = Metric.withAttributes(batchFailures, { batcher: name })

  const fail = Effect.fnUntraced(function*(batch: Batch<A, B, E>, cause: Cause.Cause<E>) {
    yield* Metric.update(failures, 1)
    yield* Effect.logWarning(`Batch ${name} of ${batch.length} failed`, cause)
    line.settle(batch, Exit.failCause(cause))
  })

  const writeOne = Effect.fnUntraced(function*() {
    const batch = line.next(maxSize, (yield* Clock.currentTimeMillis) + timeout)
    const exit = yield* Effect.exit(Effect.suspend(() => write(batch.map(({ item }) => item))))
    if (Exit.isFailure(exit)) return yield* fail(batch, exit.cause)
    const message = `${name}: ${exit.value.length} answers for ${batch.length} items`
    if (exit.value.length !== batch.length) return yield* fail(batch, Cause.die(new Error(message)))
    yield* Metric.update(size, batch.length)
    line.settle(batch, exit)
  })

  const drain = Effect.gen(function*() {
    while (true) {
      yield* line.someoneWaits.await
      while (line.waiting.length > 0) yield* writeOne()
      line.someoneWaits.closeUnsafe()
    }
  })

  const tooLong = Effect.gen(function*() {
    while (true) {
      yield* line.someoneWaits.await
      const began = yield* Clock.currentTimeMillis
      yield* Effect.sleep(line.writing === undefined ? timeout : line.writing.until - began)
      const now = yield* Clock.currentTimeMillis
      if (line.writing !== undefined && line.writing.until <= now) return line.writing.batch
    }
  })

  // A dead connection must not block callers forever. One timer for all: a timeout per batch would dominate its cost.
  return Effect.gen(function*() {
    while (true) {
      const fiber = yield* Effect.forkChild(drain, { startImmediately: true })
      const stuck = yield* tooLong
      fiber.interruptUnsafe()
      yield* fail(stuck, Cause.die(new Cause.TimeoutError(name)))
    }
  })
}

/**
 * Builds a batcher of one batch at a time. It has the services of this constructor: a caller's transaction cannot leak into
 * a batch.
 */
export const make = Effect.fnUntraced(function*<A, B, E>(
  options: Options<A, B, E>
): Effect.fn.Return<Batcher<A, B, E>, never, Scope.Scope> {
  const line = new Line<A, B, E>()
  yield* Effect.addFinalizer(() => Effect.sync(() => line.close()))
  yield* Effect.forkScoped(draining(options, line))

  const submit = (item: A): Effect.Effect<B, E> =>
    Effect.suspend(() => {
      if (line.closed) return Effect.interrupt
      const waiting: Waiting<A, B, E> = { item, answer: Deferred.makeUnsafe() }
      line.add(waiting)
      return Effect.onInterrupt(Deferred.await(waiting.answer), () => Effect.sync(() => line.leave(waiting)))
    })
  return { submit }
})
