import { Effect, Result } from "effect"
import type { CurrentActor } from "../domain/access/Actor.ts"
import type { Reservation, ReservationOutcome, StockSnapshot } from "../domain/inventory/Reservation.ts"
import type { ReservationRepo } from "../domain/inventory/ReservationRepo.ts"
import {
  afterAllocations,
  allocateInTurn,
  type StockAllocation,
  type StockLevels,
  type StockShort
} from "../domain/inventory/StockRules.ts"
import type { StockEntityCache } from "./StockEntityCache.ts"
import { answerOf, sellablesOf, type StockReply, type StockRequest } from "./StockRequest.ts"

/** Writes from memory before the batch is decided again under locks: two desks would else refuse each other for ever. */
const optimisticWrites = 2

/** A batch that is not settled after so many rounds meets a fault of ours; failing it beats holding up the desk. */
const maxRounds = 12

type Repo = ReservationRepo["Service"]

interface Decided {
  readonly granted: ReadonlyMap<string, ReadonlyArray<StockAllocation>>
  readonly short: ReadonlyMap<string, StockShort>
}

/** One batch at the desk: who still waits, what was answered, and the stock as this batch sees it. */
class StockEntityBatch {
  readonly answers = new Map<string, StockReply>()
  readonly #repo: Repo
  readonly #memory: StockEntityCache
  readonly #open: Map<string, StockRequest>
  readonly #stock = new Map<string, StockSnapshot>()
  /** Sellables read from the table for this batch; nobody is refused on older knowledge. */
  readonly #confirmed = new Set<string>()
  /** Holders whose hold was looked up: a repeat is answered "had it" even when the stock is gone since. */
  readonly #asked = new Set<string>()

  constructor(repo: Repo, memory: StockEntityCache, requests: ReadonlyArray<StockRequest>) {
    this.#repo = repo
    this.#memory = memory
    this.#open = new Map(requests.map((request) => [request.holder, request]))
  }

  get waiting(): ReadonlyArray<StockRequest> {
    return [...this.#open.values()]
  }

  /** Forgets what is known of the stock: under locks everything is read again. */
  restart(): void {
    for (const sellable of this.#stock.keys()) this.#memory.forget(sellable)
    for (const sellable of sellablesOf(this.waiting)) this.#memory.forget(sellable)
    this.#stock.clear()
    this.#confirmed.clear()
    this.#asked.clear()
  }

  /** Decides everybody who waits and writes it. True when a version had moved on and nothing was written. */
  readonly round: Effect.Effect<boolean, never, CurrentActor> = Effect.gen({ self: this }, function*() {
    yield* this.#look()
    const first = this.#decide()
    const doubted = yield* this.#doubt(first)
    const { granted, short } = doubted ? this.#decide() : first
    if (granted.size === 0) {
      this.#refuse(short)
      return false
    }
    const outcome = yield* this.#repo.reserve(this.#fences(granted), this.#reservations(granted))
    if (outcome.stale.length > 0) {
      for (const sellable of outcome.stale) this.#forget(sellable)
      return true
    }
    this.#grant(granted, outcome)
    // A holder who came again took nothing, so those refused beside him may fit after all: they go another round.
    if (outcome.fresh.size === granted.size) this.#refuse(short)
    return false
  })

  #look = Effect.fnUntraced({ self: this }, function*(this: StockEntityBatch) {
    const missing: Array<string> = []
    for (const sellable of sellablesOf(this.#open.values())) {
      if (this.#stock.has(sellable)) continue
      const known = this.#memory.get(sellable)
      if (known === undefined) missing.push(sellable)
      else this.#stock.set(sellable, known)
    }
    if (missing.length > 0) yield* this.#load(missing)
  })

  #load = Effect.fnUntraced({ self: this }, function*(this: StockEntityBatch, sellables: ReadonlyArray<string>) {
    const found = yield* this.#repo.load(sellables)
    for (const sellable of sellables) {
      const snapshot = found.get(sellable)
      this.#confirmed.add(sellable)
      this.#stock.set(sellable, snapshot ?? { sellable, version: null, levels: [] })
      if (snapshot === undefined) this.#memory.forget(sellable)
      else this.#memory.put(snapshot)
    }
  })

  /** A refusal is never given from memory: no fence would ever correct it. True when something was read anew. */
  #doubt = Effect.fnUntraced({ self: this }, function*(this: StockEntityBatch, { short }: Decided) {
    const refused = this.waiting.filter(({ holder }) => short.has(holder))
    const unread = [...sellablesOf(refused)].filter((sellable) => !this.#confirmed.has(sellable))
    const unasked = refused.map(({ holder }) => holder).filter((holder) => !this.#asked.has(holder))
    // Levels before holds: a grant that lowered the levels read here is then found among the holds.
    if (unread.length > 0) yield* this.#load(unread)
    if (unasked.length > 0) {
      for (const holder of unasked) this.#asked.add(holder)
      for (const hold of yield* this.#repo.holds(unasked)) this.#settle(hold.holder, answerOf(hold))
    }
    return unread.length > 0 || unasked.length > 0
  })

  #decide(): Decided {
    const levels: StockLevels = { get: (sellable) => this.#stock.get(sellable)?.levels }
    const waiting = this.waiting
    const outcomes = allocateInTurn(waiting.map(({ lines }) => lines), levels)
    const granted = new Map<string, ReadonlyArray<StockAllocation>>()
    const short = new Map<string, StockShort>()
    waiting.forEach(({ holder }, index) => {
      const outcome = outcomes[index]
      if (outcome === undefined) return
      if (Result.isSuccess(outcome)) granted.set(holder, outcome.success)
      else short.set(holder, outcome.failure)
    })
    return { granted, short }
  }

  #fences(granted: Decided["granted"]): ReadonlyArray<StockSnapshot> {
    const fences = new Map<string, StockSnapshot>()
    for (const { sellable } of [...granted.values()].flat()) {
      const snapshot = this.#stock.get(sellable)
      if (snapshot !== undefined) fences.set(sellable, snapshot)
    }
    return [...fences.values()]
  }

  #reservations(granted: Decided["granted"]): ReadonlyArray<Reservation> {
    return this.waiting.flatMap(({ pricing, holder, lines, ttlSeconds }) => {
      const allocations = granted.get(holder)
      if (allocations === undefined) return []
      const entities = new Map(lines.map(({ entityId, sellable }) => [sellable, entityId]))
      const taken = allocations.map((line) => ({ ...line, entityId: entities.get(line.sellable) ?? line.sellable }))
      return [{ holder, ttlSeconds, pricing, lines: taken }]
    })
  }

  #grant(granted: Decided["granted"], { fresh, had }: ReservationOutcome): void {
    const taken = [...granted].flatMap(([holder, allocations]) => (fresh.has(holder) ? allocations : []))
    const left = afterAllocations({ get: (sellable) => this.#stock.get(sellable)?.levels }, taken)
    for (const [sellable, levels] of left) {
      const snapshot = { sellable, version: (this.#stock.get(sellable)?.version ?? 0) + 1, levels }
      this.#stock.set(sellable, snapshot)
      this.#memory.put(snapshot)
    }
    for (const { pricing, holder } of this.waiting) {
      if (fresh.has(holder)) this.#settle(holder, { _tag: "Reserved", pinned: pricing, fresh: true })
    }
    for (const hold of had) this.#settle(hold.holder, answerOf(hold))
  }

  #refuse(short: Decided["short"]): void {
    for (const [holder, failure] of short) this.#settle(holder, { _tag: "Short", short: failure })
  }

  #settle(holder: string, answer: StockReply): void {
    if (this.#open.delete(holder)) this.answers.set(holder, answer)
  }

  #forget(sellable: string): void {
    this.#stock.delete(sellable)
    this.#memory.forget(sellable)
  }
}

/**
 * Decides a batch of checkouts in memory, first come first served, and writes it once. Holders are distinct. After two
 * writes that found the memory stale the batch is decided under locks, which always succeeds. The memory is in step
 * with the table only when this succeeds: whoever runs it clears the memory when it fails.
 */
export const serveBatch = Effect.fn("StockEntity.batch")(
  function*(repo: Repo, memory: StockEntityCache, requests: ReadonlyArray<StockRequest>) {
    const batch = new StockEntityBatch(repo, memory, requests)
    let stale = 0
    for (let rounds = 0; batch.waiting.length > 0; rounds++) {
      if (rounds === maxRounds) return yield* Effect.die(new Error("The stock desk cannot settle a batch."))
      if (stale < optimisticWrites) {
        if (yield* batch.round) stale += 1
        continue
      }
      const holders = batch.waiting.map(({ holder }) => holder)
      batch.restart()
      yield* repo.alone(holders, [...sellablesOf(batch.waiting)], batch.round)
    }
    return batch.answers
  }
)
