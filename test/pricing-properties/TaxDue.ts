import type { PricedLine } from "./Offer.ts"
import { halfUp, sharesOf, sumOf } from "./Shares.ts"
import { isSamePlace, type Shop, type ShopTax, type ShopTaxClass, type ShopTaxRate, type Wish } from "./Shop.ts"

type Rates = ReadonlyArray<ShopTaxRate>

/** What is taxed alike: a line, or shipping. */
interface Taxed {
  readonly amount: bigint
  readonly rates: Rates
}

export interface TaxDue {
  readonly ofLines: ReadonlyArray<bigint>
  readonly ofShipping: bigint
}

const whole = 10_000_000n

const unitsOf = ({ rateBps }: ShopTaxRate): bigint => BigInt(Math.round(rateBps * 1_000))

const rateOfClass = ({ name, rateBps }: ShopTaxClass): ShopTaxRate => ({
  country: null,
  state: null,
  taxClass: name,
  rateBps,
  compound: false,
  priority: 0,
  appliesToShipping: true,
  inForce: true,
  validFrom: null,
  validUntil: null
})

/** How much a rate says about an address: 0 for one of everywhere; undefined where it is about another. */
const precisionOf = ({ country, state }: ShopTaxRate, address: Wish["address"]): number | undefined =>
  country === null
    ? 0
    : address === null || !isSamePlace(address.country, country)
    ? undefined
    : state === null
    ? 1
    : isSamePlace(address.state, state)
    ? 2
    : undefined

/** Class and place, place, class, the rest: the first that has rates, of them the most precise (contract-commerce §5). */
const choosing = ({ classes, rates }: ShopTax, address: Wish["address"]) => {
  const own = new Map(classes.map((one) => [one.name, [{ rate: rateOfClass(one), precision: 0 }]]))
  const here = rates.filter(({ inForce, taxClass }) => inForce && (taxClass === null || own.has(taxClass)))
    .flatMap((rate) => {
      const precision = precisionOf(rate, address)
      return precision === undefined ? [] : [{ rate, precision }]
    })
  return (named: string | null): Rates => {
    const ofPlace = here.filter(({ precision }) => precision > 0)
    const levels = [
      ofPlace.filter(({ rate }) => named !== null && rate.taxClass === named),
      ofPlace.filter(({ rate }) => rate.taxClass === null),
      here.filter(({ rate }) => named !== null && rate.taxClass === named),
      own.get(named ?? "") ?? [],
      here.filter(({ rate }) => rate.taxClass === null)
    ]
    const found = levels.find((level) => level.length > 0) ?? []
    const most = Math.max(...found.map(({ precision }) => precision))
    return found.filter(({ precision }) => precision === most).map(({ rate }) => rate)
  }
}

const inOrder = (rates: Rates): Rates =>
  [...new Set(rates)].toSorted((one, other) =>
    one.priority - other.priority || Number(one.compound) - Number(other.compound)
  )

/** Each rate over all that it taxes, rounded once; a compound one also over the taxes before it. */
const onTop = (taxed: ReadonlyArray<Taxed>): ReadonlyArray<bigint> =>
  inOrder(taxed.flatMap(({ rates }) => rates)).reduce<ReadonlyArray<bigint>>((before, rate) => {
    const bases = taxed.map(({ amount, rates }, index) =>
      rates.includes(rate) ? amount + (rate.compound ? before[index] ?? 0n : 0n) : 0n
    )
    const shares = sharesOf(halfUp(sumOf(bases) * unitsOf(rate), whole), bases)
    return before.map((tax, index) => tax + (shares[index] ?? 0n))
  }, taxed.map(() => 0n))

/** The part of a price that is tax by all rates together, rounded once. */
const partOf = (gross: bigint, rates: Rates): bigint => {
  const [numerator, denominator] = inOrder(rates).reduce(
    ([above, below], rate) => [
      above * whole + unitsOf(rate) * (rate.compound ? below + above : below),
      below * whole
    ],
    [0n, 1n]
  )
  return halfUp(gross * (numerator ?? 0n), (denominator ?? 1n) + (numerator ?? 0n))
}

/** Goods of the same rates together, shipping apart from them. */
const within = (goods: ReadonlyArray<Taxed>): ReadonlyArray<bigint> => {
  const keyOf = ({ rates }: Taxed) => inOrder(rates)
  const isAlike = (one: Taxed, other: Taxed) => {
    const [left, right] = [keyOf(one), keyOf(other)]
    return left.length === right.length && left.every((rate) => right.includes(rate))
  }
  return goods.map((line, index) => {
    const weights = goods.map((other) => isAlike(line, other) ? other.amount : 0n)
    if (sumOf(weights) === 0n) return 0n
    return sharesOf(partOf(sumOf(weights), line.rates), weights)[index] ?? 0n
  })
}

/** The tax of lines, of what is left of them after discounts, and of shipping (contract-commerce §5). */
export const taxOf = (
  { tax }: Shop,
  { address }: Wish,
  lines: ReadonlyArray<PricedLine>,
  nets: ReadonlyArray<bigint>,
  [shipping, shippingClass]: readonly [bigint, string | null]
): TaxDue => {
  const ratesFor = choosing(tax, address)
  const known = (name: string | null) => tax.classes.find((one) => one.name === name)?.name
  const usual = tax.classes.find(({ isDefault }) => isDefault)?.name ?? null
  const goods = lines.map(({ product }, index) => ({
    amount: nets[index] ?? 0n,
    rates: ratesFor(known(product.taxClass) ?? usual)
  }))
  const classOfShipping = known(shippingClass) ?? (tax.shippingByDefaultClass ? usual : null)
  const shipped = {
    amount: shipping,
    rates: ratesFor(classOfShipping).filter(({ appliesToShipping }) => appliesToShipping)
  }
  if (tax.included) return { ofLines: within(goods), ofShipping: partOf(shipping, shipped.rates) }
  const taxes = onTop([...goods, shipped])
  return { ofLines: taxes.slice(0, -1), ofShipping: taxes.at(-1) ?? 0n }
}
