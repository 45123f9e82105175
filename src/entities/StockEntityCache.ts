import type { StockSnapshot } from "../domain/inventory/Reservation.ts"

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
    // A Map keeps insertion order, so putting an entry back makes it the youngest.
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
