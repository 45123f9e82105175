import { Effect, Result } from "effect"
import type { ReservationRepo } from "../domain/inventory/ReservationRepo.ts"
import {
  afterAllocations,
  allocateInTurn,
  type HeldUnits,
  type PinnedHold,
  type Reservation,
  type ReservationOutcome,
  type StockDemand,
  type StockShort,
  type StockSnapshot
} from "../domain/inventory/StockRules.ts"
import type { CurrentActor } from "../domain/platform/access/Actor.ts"
import { EntityId, type WarehouseId } from "../domain/platform/ids/Id.ts"

/** The most recently used stock snapshots, at most `capacity`. */
export class StockEntityCache {
  readonly #stock = new Map<string, StockSnapshot>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#stock.size
  }

  get(sellable: string): StockSnapshot | undefined {
    const snapshot = this.#stock.get(sellable)
    if (snapshot !== undefined) this.put(snapshot)
    return snapshot
  }

  put(snapshot: StockSnapshot): void {
    this.#stock.delete(snapshot.sellable)
    this.#stock.set(snapshot.sellable, snapshot)
    if (this.#stock.size <= this.#capacity) return
    const [oldest] = this.#stock.keys()
    if (oldest !== undefined) this.#stock.delete(oldest)
  }

  forget(sellable: string): void {
    this.#stock.delete(sellable)
  }

  clear(): void {
    this.#stock.clear()
  }
}

/** Writes before a batch runs under locks: two entities could make each other's cache stale for ever. */
const maxOptimisticWrites = 2

/** A batch that needs more attempts has a bug; failing it keeps the entity available. */
const maxAttempts = 12

export interface StockRequest {
  readonly holder: string
  readonly lines: ReadonlyArray<StockDemand & { readonly entityId: EntityId }>
  readonly warehouseId: WarehouseId | undefined
  readonly ttlSeconds: number
  readonly pricing: string
}

/** `pricing` is the JSON text that the holder stored first. */
export type StockReply =
  | { readonly _tag: "Reserved"; readonly pricing: string; readonly fresh: boolean }
  | { readonly _tag: "Short"; readonly short: StockShort }
  | { readonly _tag: "Gone" }

const replyOf = ({ pricing, state }: PinnedHold): StockReply =>
  state === "released" || state === "expired" ? { _tag: "Gone" } : { _tag: "Reserved", pricing, fresh: false }

const sellablesOf = (requests: Iterable<StockRequest>): ReadonlySet<string> =>
  new Set([...requests].flatMap(({ lines }) => lines.map(({ sellable }) => sellable)))

type Repo = ReservationRepo["Service"]

interface Allocated {
  readonly granted: ReadonlyMap<string, ReadonlyArray<HeldUnits>>
  readonly short: ReadonlyMap<string, StockShort>
}

class StockEntityBatch {
  readonly replies = new Map<string, StockReply>()
  readonly #repo: Repo
  readonly #cache: StockEntityCache
  readonly #open: Map<string, StockRequest>
  readonly #stock = new Map<string, StockSnapshot>()
  /** Sellables that this batch read from the table; only they can justify a refusal. */
  readonly #confirmed = new Set<string>()
  /** Holders whose holds this batch read: a repeat succeeds even when the stock is sold out now. */
  readonly #checkedHolders = new Set<string>()

  constructor(repo: Repo, cache: StockEntityCache, requests: ReadonlyArray<StockRequest>) {
    this.#repo = repo
    this.#cache = cache
    this.#open = new Map(requests.map((request) => [request.holder, request]))
  }

  get waiting(): ReadonlyArray<StockRequest> {
    return [...this.#open.values()]
  }

  restart(): void {
    for (const sellable of this.#stock.keys()) this.#cache.forget(sellable)
    for (const sellable of sellablesOf(this.waiting)) this.#cache.forget(sellable)
    this.#stock.clear()
    this.#confirmed.clear()
    this.#checkedHolders.clear()
  }

  /** Allocates and writes all open requests. True when the stock was stale and nothing was written. */
  readonly attempt: Effect.Effect<boolean, never, CurrentActor> = Effect.gen({ self: this }, function*() {
    yield* this.#read()
    const first = this.#allocate()
    const changed = yield* this.#confirmRefusals(first)
    const { granted, short } = changed ? this.#allocate() : first
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
    // A repeat consumes nothing, so requests refused beside it may fit: keep them for another attempt.
    if (outcome.fresh.size === granted.size) this.#refuse(short)
    return false
  })

  #read = Effect.fnUntraced({ self: this }, function*(this: StockEntityBatch) {
    const missing: Array<string> = []
    for (const sellable of sellablesOf(this.#open.values())) {
      if (this.#stock.has(sellable)) continue
      const cached = this.#cache.get(sellable)
      if (cached === undefined) missing.push(sellable)
      else this.#stock.set(sellable, cached)
    }
    if (missing.length > 0) yield* this.#load(missing)
  })

  #load = Effect.fnUntraced({ self: this }, function*(this: StockEntityBatch, sellables: ReadonlyArray<string>) {
    const snapshots = yield* this.#repo.load(sellables)
    const begun = this.#mayWait(sellables.filter((sellable) => !snapshots.has(sellable)))
    if (begun.length > 0) yield* this.#repo.begin(begun)
    for (const sellable of sellables) {
      const snapshot = snapshots.get(sellable)
      this.#confirmed.add(sellable)
      const version = begun.includes(sellable) ? 0 : null
      this.#stock.set(sellable, snapshot ?? { sellable, version, backordered: 0, levels: [] })
      if (snapshot === undefined) this.#cache.forget(sellable)
      else this.#cache.put(snapshot)
    }
  })

  #mayWait(sellables: ReadonlyArray<string>): ReadonlyArray<string> {
    const lines = this.waiting.flatMap((request) => request.lines)
    return sellables.filter((id) => lines.some(({ backorders = 0, sellable }) => sellable === id && backorders > 0))
  }

  /** Checks refusals against the table, because no fence corrects a wrong refusal. True when it read anything. */
  #confirmRefusals = Effect.fnUntraced({ self: this }, function*(this: StockEntityBatch, { short }: Allocated) {
    const refused = this.waiting.filter(({ holder }) => short.has(holder))
    const unread = [...sellablesOf(refused)].filter((sellable) => !this.#confirmed.has(sellable))
    const unchecked = refused.map(({ holder }) => holder).filter((holder) => !this.#checkedHolders.has(holder))
    // Levels before holds: a hold that lowered these levels is then among the holds.
    if (unread.length > 0) yield* this.#load(unread)
    if (unchecked.length > 0) {
      for (const holder of unchecked) this.#checkedHolders.add(holder)
      for (const hold of yield* this.#repo.holds(unchecked)) this.#reply(hold.holder, replyOf(hold))
    }
    return unread.length > 0 || unchecked.length > 0
  })

  #allocate(): Allocated {
    const waiting = this.waiting
    const outcomes = allocateInTurn(waiting, this.#stock)
    const granted = new Map<string, ReadonlyArray<HeldUnits>>()
    const short = new Map<string, StockShort>()
    waiting.forEach(({ holder }, index) => {
      const outcome = outcomes[index]
      if (outcome === undefined) return
      if (Result.isSuccess(outcome)) granted.set(holder, outcome.success)
      else short.set(holder, outcome.failure)
    })
    return { granted, short }
  }

  #fences(granted: Allocated["granted"]): ReadonlyArray<StockSnapshot> {
    const fences = new Map<string, StockSnapshot>()
    for (const { sellable } of [...granted.values()].flat()) {
      const snapshot = this.#stock.get(sellable)
      if (snapshot !== undefined) fences.set(sellable, snapshot)
    }
    return [...fences.values()]
  }

  #reservations(granted: Allocated["granted"]): ReadonlyArray<Reservation> {
    return this.waiting.flatMap(({ pricing, holder, lines, ttlSeconds }) => {
      const allocations = granted.get(holder)
      if (allocations === undefined) return []
      const entities = new Map(lines.map(({ entityId, sellable }) => [sellable, entityId]))
      const reserved = allocations.map((line) => ({
        ...line,
        entityId: entities.get(line.sellable) ?? EntityId.make(line.sellable)
      }))
      return [{ holder, ttlSeconds, pricing, lines: reserved }]
    })
  }

  #grant(granted: Allocated["granted"], { existing, fresh }: ReservationOutcome): void {
    const reserved = [...granted].flatMap(([holder, allocations]) => (fresh.has(holder) ? allocations : []))
    for (const [sellable, left] of afterAllocations(this.#stock, reserved)) {
      const snapshot = { ...left, sellable, version: (this.#stock.get(sellable)?.version ?? 0) + 1 }
      this.#stock.set(sellable, snapshot)
      this.#cache.put(snapshot)
    }
    for (const { pricing, holder } of this.waiting) {
      if (fresh.has(holder)) this.#reply(holder, { _tag: "Reserved", pricing, fresh: true })
    }
    for (const hold of existing) this.#reply(hold.holder, replyOf(hold))
  }

  #refuse(short: Allocated["short"]): void {
    for (const [holder, failure] of short) this.#reply(holder, { _tag: "Short", short: failure })
  }

  #reply(holder: string, reply: StockReply): void {
    if (this.#open.delete(holder)) this.replies.set(holder, reply)
  }

  #forget(sellable: string): void {
    this.#stock.delete(sellable)
    this.#cache.forget(sellable)
  }
}

/**
 * Reserves a batch, first come first served, in one write. After two writes on a stale cache it runs under locks, which
 * always succeeds. If it fails, the caller must clear the cache.
 */
export const serveBatch = Effect.fn("StockEntity.batch")(
  function*(repo: Repo, cache: StockEntityCache, requests: ReadonlyArray<StockRequest>) {
    const batch = new StockEntityBatch(repo, cache, requests)
    let stale = 0
    for (let attempt = 0; batch.waiting.length > 0; attempt++) {
      if (attempt === maxAttempts) return yield* Effect.die(new Error("The stock entity cannot settle a batch."))
      if (stale < maxOptimisticWrites) {
        if (yield* batch.attempt) stale += 1
        continue
      }
      const holders = batch.waiting.map(({ holder }) => holder)
      batch.restart()
      yield* repo.alone(holders, [...sellablesOf(batch.waiting)], batch.attempt)
    }
    return batch.replies
  }
)
