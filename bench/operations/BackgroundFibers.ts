import { Fiber } from "effect"
import { syncBuiltinESMExports } from "node:module"
import timers from "node:timers/promises"

/** What is used of a fiber's inside. */
export interface FiberInside {
  readonly context: unknown
  /** Starts at 0 with each run of the loop. */
  readonly currentOpCount: number
  readonly _stack: ReadonlyArray<object>
  readonly cache: { tracerContext: unknown }
  evaluate(effect: unknown): void
  runLoop(effect: unknown): unknown
  setContext(context: unknown): void
  succeedWith(value: unknown): unknown
}

/**
 * Tells the work of requests from work by time, such as the relay's: a fiber that a timer has woken once is in the
 * background for good, and so are those that it starts.
 */
export class BackgroundFibers {
  readonly #found = new WeakSet<object>()
  #timerFires = false

  /** `started` is called for each fiber of the foreground. */
  constructor(fiber: FiberInside, started: () => void) {
    this.#watchTimers()
    const add = (one: object) => void this.#found.add(one)
    const isByTime = () => this.#timerFires || this.has(Fiber.getCurrent())
    const { evaluate, setContext } = fiber
    fiber.evaluate = function(effect) {
      if (isWokenByTimer()) add(this)
      evaluate.call(this, effect)
    }
    const isWokenByTimer = () => this.#timerFires && Fiber.getCurrent() === undefined
    // The constructor of a fiber calls this first.
    fiber.setContext = function(context) {
      if (this.context === undefined) {
        if (isByTime()) add(this)
        else started()
      }
      setContext.call(this, context)
    }
  }

  has(fiber: object | undefined): boolean {
    return fiber !== undefined && this.#found.has(fiber)
  }

  #watchTimers() {
    const { setTimeout: sleep } = timers
    timers.setTimeout = (...args) => {
      const sleeper = Fiber.getCurrent()
      if (sleeper !== undefined) this.#found.add(sleeper)
      return sleep(...args)
    }
    syncBuiltinESMExports()
    const { setInterval, setTimeout } = globalThis
    const watched = (work: (...args: ReadonlyArray<unknown>) => void) => (...args: ReadonlyArray<unknown>) => {
      this.#timerFires = true
      try {
        work(...args)
      } finally {
        this.#timerFires = false
      }
    }
    Object.assign(globalThis, {
      setInterval: Object.assign(
        (work: () => void, ...rest: ReadonlyArray<number>) => setInterval(watched(work), ...rest),
        setInterval
      ),
      setTimeout: Object.assign(
        (work: () => void, ...rest: ReadonlyArray<number>) => setTimeout(watched(work), ...rest),
        setTimeout
      )
    })
  }
}
