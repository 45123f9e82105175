import type { Client } from "pg"
import { flows } from "../load/Flows.ts"
import type { LoadJob } from "../load/Messages.ts"
import { Recorder } from "../load/Recorder.ts"
import { Shopper } from "../load/Shopper.ts"
import { databaseWindow } from "../measure/DatabaseUse.ts"
import { percentile } from "../measure/Figures.ts"
import type { Counts } from "./Messages.ts"

/** The workloads that are counted, by the names that `bench/load/Flows.ts` gives them. */
export const counted = { W1: "list", W2: "product", W3: "cart", W4: "purchase" } as const

/** What one flow costs; see `FlowCounter`. */
export const costNames = ["operations", "fibers", "spans", "statements", "commits", "jobs"] as const

export type FlowCosts = Readonly<Record<typeof costNames[number], number>>

/** A server with the counter in it. */
export interface CountedServer {
  readonly origin: string
  readonly counts: () => Promise<Counts>
  /** Relays all changes so far. */
  readonly relay: () => Promise<unknown>
  /** How many jobs there are, without those of schedules. */
  readonly jobs: () => Promise<number>
  readonly admin: Client
  readonly database: string
}

interface Sample extends Counts {
  readonly commits: number
  /** That the relay makes of the changes. */
  readonly jobs: number
}

type Tally = Readonly<Record<string, number>>

const less = (after: Tally, before: Tally): Tally =>
  Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const).filter(([, n]) => n > 0)
  )

const total = (tally: Tally): number => Object.values(tally).reduce((sum, count) => sum + count, 0)

/** A flow that a timer has met costs more, and none costs less. */
const quartile = (samples: ReadonlyArray<Sample>, of: (sample: Sample) => number): number =>
  percentile(samples.map(of).toSorted((a, b) => a - b), 0.25)

const meanOf = (tallies: ReadonlyArray<Tally>): ReadonlyArray<readonly [name: string, count: number]> => {
  const names = new Set(tallies.flatMap((tally) => Object.keys(tally)))
  return [...names].map((name) =>
    [name, tallies.reduce((sum, tally) => sum + (tally[name] ?? 0), 0) / tallies.length] as const
  ).toSorted((a, b) => b[1] - a[1])
}

/** Counts one user's flows, after some that are not counted. */
export class FlowCounter {
  readonly #server: CountedServer
  readonly #recorder = new Recorder()
  readonly #shopper: Shopper
  #turn = 0

  constructor(server: CountedServer) {
    this.#server = server
    this.#shopper = new Shopper(server.origin, 0, this.#recorder)
  }

  /** What the flow costs, and how often it sends each statement and works for each source. */
  async count(flow: typeof counted[keyof typeof counted], flowCount: number, products: number) {
    const load = { users: 1, warmup: 0, seconds: 0, flows: flowCount, products, firstCart: 0 }
    const job: LoadJob = { ...load, origins: [this.#server.origin], flow }
    const samples: Array<Sample> = []
    for (let n = -Math.ceil(flowCount / 3); n < flowCount; n++) {
      const sample = await this.#sample(job)
      if (n >= 0) samples.push(sample)
    }
    const costs: FlowCosts = {
      operations: quartile(samples, ({ operations }) => operations),
      fibers: quartile(samples, ({ fibers }) => fibers),
      spans: quartile(samples, ({ spans }) => spans),
      statements: quartile(samples, ({ statements }) => total(statements)),
      commits: quartile(samples, ({ commits }) => commits),
      jobs: quartile(samples, ({ jobs }) => jobs)
    }
    const statements = meanOf(samples.map((sample) => sample.statements))
    return { costs, statements, sources: meanOf(samples.map(({ sources }) => sources)) }
  }

  async #sample(job: LoadJob): Promise<Sample> {
    const { admin, counts, database, jobs, relay } = this.#server
    await relay()
    const jobsBefore = await jobs()
    const commits = await databaseWindow(admin, database)
    const before = await counts()
    await flows[job.flow](this.#shopper, { job, turn: this.#turn++, recorder: this.#recorder })
    const after = await counts()
    const { writes } = await commits()
    await relay()
    return {
      operations: after.operations - before.operations,
      fibers: after.fibers - before.fibers,
      spans: after.spans - before.spans,
      statements: less(after.statements, before.statements),
      sources: less(after.sources, before.sources),
      commits: writes,
      jobs: await jobs() - jobsBefore
    }
  }

  close(): Promise<void> {
    return this.#shopper.close()
  }
}
