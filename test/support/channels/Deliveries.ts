import type { Random } from "../../fuzz/Values.ts"

/** A webhook of an emulated shop on its way. */
export interface Parcel {
  readonly url: string
  readonly topic: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** An attempt to deliver a webhook. `status` is undefined when there was no answer in time. */
export interface Attempt extends Parcel {
  readonly status: number | undefined
}

/** Delivers the webhooks of an emulated shop and, as asked, loses, doubles or reorders them. */
export class Deliveries {
  /** The attempts of late. */
  readonly attempts: Array<Attempt> = []
  private readonly underWay = new Set<Promise<void>>()
  private readonly planted: Array<"lose" | "double"> = []
  private held: Array<() => void> | undefined
  private chance: (() => "lose" | "double" | "late" | undefined) | undefined
  private late: (() => void) | undefined

  private readonly timeoutMs: number

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs
  }

  /** The next `times` webhooks never arrive. */
  lose(times = 1): void {
    for (let n = 0; n < times; n++) this.planted.push("lose")
  }

  /** The next `times` webhooks arrive twice. */
  double(times = 1): void {
    for (let n = 0; n < times; n++) this.planted.push("double")
  }

  /** Keeps webhooks back until `releaseReversed`. */
  hold(): void {
    this.held = []
  }

  /** Sends the webhooks that were kept back, the last one first, each after the answer to the one before. */
  async releaseReversed(): Promise<void> {
    for (const go of (this.held ?? []).reverse()) {
      go()
      await this.settled()
    }
    this.held = undefined
  }

  /** From now on webhooks are lost, doubled or overtaken by the next one by chance. 0 ends it. */
  unreliable(random: Random, probability: number): void {
    this.chance = probability > 0
      ? () => random.chance(probability) ? random.pick(["lose", "double", "late"] as const) : undefined
      : undefined
    this.late?.()
    this.late = undefined
  }

  /** Resolves when every webhook under way has an answer or has failed. */
  async settled(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay)
  }

  /** Sends a webhook; `report` gets the outcome. The shop does not notice a loss. */
  send(parcel: Parcel, report: (status: number | undefined) => void): void {
    const go = () => this.begin(parcel, report)
    if (this.held !== undefined) return void this.held.push(go)
    const fate = this.planted.shift() ?? this.chance?.()
    if (fate === "lose") return
    const before = this.late
    this.late = undefined
    if (fate === "late") this.late = go
    else go()
    if (fate === "double") go()
    before?.()
  }

  /** One request, without faults. */
  async post({ body, headers, url }: Omit<Parcel, "topic">): Promise<number | undefined> {
    try {
      const signal = AbortSignal.timeout(this.timeoutMs)
      const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal })
      await answer.arrayBuffer()
      return answer.status
    } catch {
      return undefined
    }
  }

  private begin(parcel: Parcel, report: (status: number | undefined) => void): void {
    const work = this.post(parcel).then((status) => {
      if (this.attempts.push({ ...parcel, status }) > 10_000) this.attempts.splice(0, 5_000)
      report(status)
    }).finally(() => this.underWay.delete(work))
    this.underWay.add(work)
  }
}
