import { Schema } from "effect"

export const whole = (least: number, most: number, unit = "") =>
  Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most })).annotate({
    description: `a whole number${unit} from ${least} to ${most}`
  })
export const ms = (least: number, most: number) => whole(least, most, " of milliseconds")
export const port = whole(0, 65_535).annotate({ description: "a port number from 0 to 65535 (0 picks a free one)" })
export const between = (least: number, most: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum: least, maximum: most })).annotate({
    description: `a number from ${least} to ${most}`
  })
export const flag = Schema.Boolean.annotate({ description: "true or false" })
export const textThat = (fits: (value: string) => boolean, description: string) =>
  Schema.String.check(Schema.makeFilter(fits)).annotate({ description })
export const text = textThat(() => true, "a text")
export const listOf = <A>(rule: Schema.Codec<A>, description: string) => Schema.Array(rule).annotate({ description })
export const texts = listOf(text, "a list of texts")
export const oneOf = <const Words extends ReadonlyArray<string>>(...words: Words) =>
  Schema.Literals(words).annotate({ description: words.join(", ") })
/** No message and no print of the settings shows it. */
export const secret = (description: string, fits: (value: string) => boolean = () => true) =>
  Schema.RedactedFromValue(textThat(fits, description)).annotate({ description, isSecret: true })
export const code = <A>() =>
  Schema.declare((_: unknown): _ is A => true).annotate({ description: "what its type says" })
export const webAddress = (example: string) =>
  textThat((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), `an address, ${example}`)
