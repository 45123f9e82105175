import { percentile } from "../measure/Figures.ts"
import type { LoadReport, StepTimes } from "./Messages.ts"

/** The first part of a window in which shoppers that started together still wait for their first answers. */
const rampShare = 0.2

const timesOf = (values: Array<number>): StepTimes => {
  values.sort((a, b) => a - b)
  return { count: values.length, p50: percentile(values, 0.5), p99: percentile(values, 0.99) }
}

/** Keeps the times of a window; emptied when the window begins. */
export class Recorder {
  #began = performance.now()
  #cpu = process.cpuUsage()
  #bytes = 0
  #ended: Array<number> = []
  #times: Array<number> = []
  #failed = new Map<string, number>()
  #steps = new Map<string, Array<number>>()
  /** Orders in answers; survives `begin`, since an audit counts the warm-up's too. */
  orders = 0

  begin(): void {
    this.#began = performance.now()
    this.#cpu = process.cpuUsage()
    this.#bytes = 0
    this.#ended = []
    this.#times = []
    this.#failed = new Map()
    this.#steps = new Map()
  }

  step(name: string, ms: number, bytes: number): void {
    const known = this.#steps.get(name)
    if (known === undefined) this.#steps.set(name, [ms])
    else known.push(ms)
    this.#bytes += bytes
  }

  done(ms: number): void {
    this.#times.push(ms)
    this.#ended.push(performance.now() - this.#began)
  }

  failed(why: string): void {
    this.#failed.set(why, (this.#failed.get(why) ?? 0) + 1)
  }

  /** `windowMs`: the planned length; what ended later counts for everything but the rate. */
  report(windowMs: number): LoadReport {
    const seconds = (performance.now() - this.#began) / 1000
    const { system, user } = process.cpuUsage(this.#cpu)
    const limit = windowMs === 0 ? seconds * 1000 : windowMs
    const ramp = limit * rampShare
    const counted = this.#ended.filter((at) => at > ramp && at <= limit).length
    const { count: done, p50, p99 } = timesOf(this.#times)
    return {
      done,
      failed: Object.fromEntries(this.#failed),
      rate: counted / ((limit - ramp) / 1000),
      p50,
      p99,
      steps: Object.fromEntries([...this.#steps].map(([name, values]) => [name, timesOf(values)])),
      bytes: this.#bytes / Math.max(1, done),
      cpuMs: (system + user) / 1000,
      seconds,
      orders: this.orders
    }
  }
}
