import { Result, Schema, SchemaGetter } from "effect"
import { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { about } from "../platform/hints/Hints.ts"
import { exactFraction } from "../platform/money/Money.ts"
import { issue } from "../platform/text/Fields.ts"
import { ofForm, unsaid } from "../platform/text/Storable.ts"

const places = 5
const scale = 10 ** places

/** Denominator of `unitsOf`: a rate is units / 10^7. */
export const whole = BigInt(scale * 100)

const decimal = /^(\d{1,3})(?:\.(\d{1,5}))?$/

/** A rate in hundred-thousandths of a per cent: "9.975" is 997,500. */
export const unitsOf = (rate: string): bigint => {
  const [, before = "0", after = ""] = decimal.exec(rate) ?? []
  return BigInt(`${before}${after.padEnd(places, "0")}`)
}

const textOf = (units: bigint): string => {
  const digits = String(units).padStart(places + 1, "0")
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "")
}

const limit = Schema.makeFilter((rate: string) => unitsOf(rate) <= whole || "must be at most 100.")

const Rate = Schema.String.check(ofForm(decimal, "per cent, such as 8.25, with at most five decimals"))
  .annotate({ examples: ["9.975"] }).pipe(
    Schema.decodeTo(Schema.String.check(limit), {
      decode: SchemaGetter.transform((text) => decimal.test(text) ? textOf(unitsOf(text)) : text),
      encode: SchemaGetter.transform((text) => text)
    })
  )

const bpsUnits = (rateBps: number): bigint | undefined => {
  const { denominator, numerator } = exactFraction(rateBps) ?? { numerator: 0n, denominator: 0n }
  return denominator > 0n && numerator * 1000n % denominator === 0n ? numerator * 1000n / denominator : undefined
}

const RateBps = Schema.Finite.check(
  Schema.isBetween({ minimum: 0, maximum: 10_000 }),
  Schema.makeFilter((rateBps: number) => bpsUnits(rateBps) !== undefined || "must have at most three decimals.", unsaid)
).annotate({ description: "The same rate in hundredths of a per cent: 997.5 is 9.975 %.", examples: [997.5] })

export const shownRate = {
  rate: Schema.String.annotate({ description: "Per cent as decimal text.", examples: ["9.975"] }),
  rateBps: Schema.Finite.annotate({ description: "The same in hundredths of a per cent.", examples: [997.5] })
}

export const sentRate = {
  rate: Schema.optional(Rate).pipe(
    about("Per cent as decimal text, with up to five decimals; without zeros at the end.")
  ),
  rateBps: Schema.optional(RateBps)
}

interface SentRate {
  readonly rate?: string | undefined
  readonly rateBps?: number | undefined
}

const refuse = (message: string) => Result.fail(ValidationFailed.issues([issue("rate", message)]))

/** The rate that an input says in one or both ways, else the one before. */
export const rateOver = (
  { rate, rateBps }: SentRate,
  before?: string
): Result.Result<{ readonly rate: string; readonly rateBps: number }, ValidationFailed> => {
  const sent = rateBps === undefined ? undefined : textOf(bpsUnits(rateBps) ?? 0n)
  if (rate !== undefined && sent !== undefined && rate !== sent) {
    return refuse(`says ${rate} % while rateBps says ${sent} %. Send one of them, or the same rate in both.`)
  }
  const after = rate ?? sent ?? before
  return after === undefined
    ? refuse("is required: send rate in per cent, or rateBps.")
    : Result.succeed({ rate: after, rateBps: Number(unitsOf(after)) / 1000 })
}

export const percentOfBps = (rateBps: number): string => textOf(bpsUnits(rateBps) ?? 0n)
