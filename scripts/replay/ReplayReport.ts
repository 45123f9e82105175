import { formatAmount, SignedMinor } from "../../src/domain/platform/money/Money.ts"
import type { RefusedLine } from "./InvoiceBook.ts"
import { currency } from "./InvoiceFile.ts"

/** Orders of one country; pence. */
export interface CountryTotals {
  readonly orders: number
  readonly units: number
  readonly subtotal: number
}

/** What a replay did and found. */
export interface ReplayResult {
  readonly linesRead: number
  readonly productsCreated: number
  readonly productsFound: number
  readonly pricesSet: number
  readonly unitsReceived: number
  readonly unitsReturned: number
  readonly ordersPlaced: number
  readonly ordersFound: number
  readonly countries: ReadonlyMap<string, CountryTotals>
  readonly refused: ReadonlyArray<RefusedLine>
  /** Empty when every order equals its invoice. */
  readonly differences: ReadonlyArray<string>
}

const pounds = (pence: number): string => `${formatAmount(SignedMinor.make(pence), currency)} ${currency}`

const row = (name: string, { orders, subtotal, units }: CountryTotals): string =>
  `  ${name.padEnd(20)} ${String(orders).padStart(6)} orders ${String(units).padStart(8)} units ${
    pounds(subtotal).padStart(16)
  }`

const totalOf = (countries: Iterable<CountryTotals>): CountryTotals =>
  [...countries].reduce((sum, one) => ({
    orders: sum.orders + one.orders,
    units: sum.units + one.units,
    subtotal: sum.subtotal + one.subtotal
  }), { orders: 0, units: 0, subtotal: 0 })

/** Prints what a replay did, totals per country, every refused line, and every difference. */
export const printReport = (result: ReplayResult, print: (line: string) => void): void => {
  print(`prices set: ${result.pricesSet}; units received: ${result.unitsReceived}, returned: ${result.unitsReturned}`)
  print(`orders: ${result.ordersPlaced} placed, ${result.ordersFound} found from an earlier run`)
  for (const [country, totals] of [...result.countries].toSorted(([, a], [, b]) => b.subtotal - a.subtotal)) {
    print(row(country, totals))
  }
  print(row("all", totalOf(result.countries.values())))
  print(`refused lines: ${result.refused.length} of ${result.linesRead}`)
  for (const { code, invoice, line, reason } of result.refused) {
    print(`  line ${line}, invoice ${invoice}, ${code}: ${reason}`)
  }
  print(
    result.differences.length === 0
      ? "every order equals its invoice to the penny"
      : `DIFFERENCES: ${result.differences.length}`
  )
  for (const difference of result.differences) print(`  ${difference}`)
}
