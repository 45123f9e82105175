import type { StockSnapshot } from "../domain/inventory/Reservation.ts"

/**
 * What a desk remembers of the stock: the most recently used sellables, at most `capacity` of them. Anything may be
 * forgotten at any time, the table is the truth.
 */
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
    // A Map keeps the order of insertion, so putting an entry back makes it the youngest.
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
