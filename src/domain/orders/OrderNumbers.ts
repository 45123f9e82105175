import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { currentOrganization } from "../platform/access/Actor.ts"
import { today } from "../platform/text/BusinessDate.ts"
import { orderNumber } from "./Order.ts"
import { OrderRepo } from "./OrderRepo.ts"

interface Block {
  readonly year: number
  next: number
  readonly last: number
  readonly size: number
  /** Milliseconds since 1970. */
  readonly takenAt: number
}

interface NumberBlock {
  readonly turn: Semaphore.Semaphore
  block: Block | undefined
}

const largestBlock = 64

const busyMillis = 10_000

/** Beyond it the cache is cleared, which leaves gaps in the numbers. */
const maxBlocks = 10_000

/** Block size grows with the order rate: a busy shop rarely queries the counter, a quiet one leaves no gaps. */
const nextSize = (block: Block | undefined, year: number, now: number): number =>
  block === undefined || block.year !== year || now - block.takenAt > busyMillis
    ? 1
    : Math.min(block.size * 2, largestBlock)

/**
 * Order numbers per organization and year (UTC), from 000001 (contract §4). Blocks keep orders from queueing on a
 * counter row; a process that stops leaves a gap of at most 63. Take the number before the order's transaction begins.
 */
export class OrderNumbers extends Context.Service<OrderNumbers>()("stoa/domain/orders/OrderNumbers", {
  make: Effect.gen(function*() {
    const repo = yield* OrderRepo
    const blocks = new Map<string, NumberBlock>()

    const blockOf = (organization: string): NumberBlock => {
      const known = blocks.get(organization)
      if (known !== undefined) return known
      if (blocks.size >= maxBlocks) blocks.clear()
      const created = { turn: Semaphore.makeUnsafe(1), block: undefined }
      blocks.set(organization, created)
      return created
    }

    const takeFrom = (numbers: NumberBlock, year: number): number | undefined =>
      numbers.block !== undefined && numbers.block.year === year && numbers.block.next <= numbers.block.last
        ? numbers.block.next++
        : undefined

    const refill = Effect.fnUntraced(function*(numbers: NumberBlock, year: number) {
      const waited = takeFrom(numbers, year)
      if (waited !== undefined) return waited
      const takenAt = yield* Clock.currentTimeMillis
      const size = nextSize(numbers.block, year, takenAt)
      const last = yield* repo.takeNumbers(year, size)
      const first = last - size + 1
      numbers.block = { year, next: first + 1, last, size, takenAt }
      return first
    })

    const next = Effect.gen(function*() {
      const numbers = blockOf(yield* currentOrganization)
      const year = Number((yield* today).slice(0, 4))
      const number = takeFrom(numbers, year) ?? (yield* numbers.turn.withPermit(refill(numbers, year)))
      return orderNumber(year, number)
    }).pipe(Effect.withSpan("OrderNumbers.next"))

    return { next }
  })
}) {
  static readonly layer = Layer.effect(OrderNumbers, OrderNumbers.make)
}
